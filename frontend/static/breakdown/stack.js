/** Sums of stacked series. */

/**
 * Return the sum of each series and those before it, by step; null where the series has no value.
 * @param {(number | null)[][]} values of each series by step
 * @returns {(number | null)[][]}
 */
export function stackValues(values) {
  /** @type {(number | null)[]} */
  let below = [];
  return values.map((series) => {
    below = series.map((value, i) => (value === null ? null : value + (below[i] ?? 0)));
    return below;
  });
}
