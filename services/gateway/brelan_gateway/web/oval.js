// Where the seats stand around the table, in per cent of the stage: `x`, `y` on a wide screen, `px`, `py` on a tall one,
// and `bx`, `by`, the way from a seat to its bet in pixels. Place 0 is at the bottom, mine when I sit; then clockwise.

export function spot(place, count) {
  const [x, y] = place === 0 ? [50, 84] : onOval(place, count);
  const [px, py] = onColumns(place, count);
  return { x, y, px, py, ...towardsCentre(place, x, y) };
}

function onOval(place, count) {
  const angle = Math.PI / 2 + (2 * Math.PI * place) / count;
  const [across, down] = [Math.cos(angle), Math.sin(angle)];
  // pulled a little to the corners, so that eight seats do not touch and mine has room
  const stretch = 1 / Math.max(Math.abs(across) ** 0.35, Math.abs(down) ** 0.35, 0.86);
  return [50 + 39.5 * across * Math.min(1.12, stretch), 43 + 31 * down * Math.min(1.1, stretch)];
}

function onColumns(place, count) {
  if (place === 0) return [50, 88];
  const others = count - 1;
  const side = Math.floor(others / 2);
  if (others % 2 && place === side + 1) return [50, 10];
  const onLeft = place <= side;
  const step = onLeft ? place - 1 : count - 1 - place; // 0 is the lowest
  const [low, high] = others % 2 ? [69.5, 30.5] : [67, 14];
  const y = side === 1 ? (low + high) / 2 : low - ((low - high) * step) / (side - 1);
  return [onLeft ? 20.5 : 79.5, y];
}

function towardsCentre(place, x, y) {
  if (place === 0) return { bx: 0, by: -86 };
  const [dx, dy] = [50 - x, (44 - y) * 0.62];
  const length = Math.hypot(dx, dy) || 1;
  return { bx: Math.round((dx / length) * 132), by: Math.round((dy / length) * 74 + (dy >= 0 ? 12 : -8)) };
}
