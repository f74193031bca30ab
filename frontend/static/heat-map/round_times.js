/** Round times of the browser's time zone. */

const MINUTE = 60,
  HOUR = 60 * MINUTE,
  DAY = 24 * HOUR;
const STEPS = [
  ...[30, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE],
  ...[HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR],
  ...[DAY, 2 * DAY, 5 * DAY, 10 * DAY, 30 * DAY, 90 * DAY],
];

/**
 * Return round local times from `from` to `to`, and the seconds between them by a clock on the wall.
 * @param {number} from seconds since 1970
 * @param {number} to
 * @param {number} most greatest number of steps in the range
 * @returns {{times: number[], step: number}}
 */
export function listRoundTimes(from, to, most) {
  const step = STEPS.find((each) => (to - from) / each <= most) ?? 90 * DAY;
  const offset = new Date(from * 1000).getTimezoneOffset() * MINUTE;
  const times = new Set();
  for (let wall = Math.ceil((from - offset) / step) * step; ; wall += step) {
    const time = new Date(1970, 0, 1, 0, 0, wall).getTime() / 1000;
    if (time > to) return { times: [...times], step };
    if (time >= from) times.add(time); // twice: a time that the change to summer time leaves out
  }
}
