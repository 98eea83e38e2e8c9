# One image for the whole room; each service is a command in it (`python -m brelan_table`).

FROM python:3.11-slim-bookworm AS build
# Another package index than pip's own: --build-arg PIP_INDEX_URL=…
ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
ARG PIP_TRUSTED_HOST
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/brelan
WORKDIR /src
# What Brelan needs, in a layer that lasts until pyproject.toml changes.
COPY pyproject.toml ./
RUN python -c "import tomllib; \
project = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
print('\n'.join(project['dependencies'] + project['optional-dependencies']['postgres']))" >/tmp/requirements.txt \
 && /opt/brelan/bin/pip install --quiet -r /tmp/requirements.txt
COPY README.md LICENSE ./
COPY libs ./libs
COPY services ./services
RUN /opt/brelan/bin/pip wheel --quiet --no-deps --wheel-dir /tmp/wheels . \
 && /opt/brelan/bin/pip install --quiet --no-deps /tmp/wheels/*.whl

FROM python:3.11-slim-bookworm
LABEL org.opencontainers.image.title="Brelan" \
      org.opencontainers.image.description="An event-sourced poker room" \
      org.opencontainers.image.licenses="MIT"
RUN useradd --system --uid 10001 --user-group --no-create-home --home-dir /data brelan \
 && install -d -o brelan -g brelan /data
COPY --from=build /opt/brelan /opt/brelan
ENV PATH=/opt/brelan/bin:$PATH PYTHONUNBUFFERED=1 BRELAN_DATA=/data
WORKDIR /data
VOLUME /data
# The gateway's page and API; every service's health and metrics.
EXPOSE 8000 9100
USER 10001:10001
CMD ["brelan", "--help"]
