"""Errors as answers: whatever goes wrong, the client gets ``{"code", "message"}`` and a status."""

from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from brelan.eventlog.log import LogUnavailable
from brelan.sql import DatabaseError
from brelan.telemetry import metrics
from brelan_gateway import refusals
from brelan_gateway.refusals import Refusal

logger = structlog.get_logger(__name__)


def answer_errors(app: FastAPI) -> None:
    """Every kind of error that a handler may raise."""
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(LogUnavailable, _unavailable)
    app.add_exception_handler(DatabaseError, _unavailable)
    app.add_exception_handler(Exception, _broken)


def answer_of(refusal: Refusal) -> Response:
    metrics.rejections.labels(code=refusal.code).inc()
    headers = {} if refusal.retry_after is None else {"Retry-After": str(refusal.retry_after)}
    if refusal.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse({"code": refusal.code, "message": refusal.message}, refusal.status, headers)


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return answer_of(error)


async def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return answer_of(refusals.invalid(" ".join(map(_sentence, error.errors()))))


def _sentence(problem: dict[str, Any]) -> str:
    """``name: String should have at least 3 characters.`` What was given is not repeated: it may be a password."""
    where = ".".join(str(part) for part in problem["loc"] if part not in {"body", "query", "path", "header"})
    return f"{where}: {problem['msg']}." if where else f"{problem['msg']}."


async def _http(_: Request, error: Exception) -> Response:
    """What the framework refuses by itself: unknown addresses, wrong methods."""
    assert isinstance(error, HTTPException)
    if error.status_code == 400:  # of a body that cannot be read
        return answer_of(refusals.invalid("The body of the request is no JSON that can be read. Check what you send."))
    if error.status_code == 404:
        return answer_of(refusals.unknown_address())
    if error.status_code == 413:
        return answer_of(refusals.too_large())
    return answer_of(Refusal(error.status_code, "not_allowed", f"{error.detail}."))


async def _unavailable(_: Request, error: Exception) -> Response:
    logger.warning("store unavailable", reason=str(error))
    return answer_of(refusals.unavailable())


async def _broken(request: Request, error: Exception) -> Response:
    logger.error("request failed", path=request.url.path, exc_info=error)
    return answer_of(refusals.broken())
