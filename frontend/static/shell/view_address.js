/**
 * Changes of one parameter of a page's URL, which drop the parameters that depend on it.
 *
 * view_address.py has the table of dependents.
 */

/** @typedef {Record<string, string[]>} Dependents */

const SIDE = 'b.'; // prefix of the parameters of the baseline of a comparison
const FAMILIES = ['label.', 'sample.']; // prefixes of parameters that the user names
const RANGE = 'range'; // `from` and `to` together
const DEFAULT_NOW = 'now';
const SECOND_MS = 1000;

/** @returns {Dependents} the server's table, embedded in the page */
export function pageDependents() {
  return JSON.parse(document.querySelector('meta[name=dependents]')?.getAttribute('content') ?? '{}');
}

/**
 * @param {string} address
 * @param {string} parameter with the prefix for the baseline; `range` for the values of `from` and `to`
 * @param {string | string[]} value "" removes the parameter; for the baseline it means all
 * @param {Dependents} dependents
 * @returns {string} the whole URL
 */
export function changedAddress(address, parameter, value, dependents) {
  const url = new URL(address);
  const parameters = url.searchParams;
  const side = parameter.startsWith(SIDE) ? SIDE : '';
  const own = parameter.slice(side.length);
  const values = [value].flat();
  if (own === 'span' || own === 'end') settleRange(parameters, side);
  for (const name of collectDependents(findSources(parameters, own, values), dependents))
    remove(parameters, side + name, parameter);
  if (own === RANGE) {
    parameters.set(`${side}from`, values[0]);
    parameters.set(`${side}to`, values[1]);
  } else
    replace(
      parameters,
      parameter,
      values.filter((each) => isSaid(each, side, own)),
    );
  return url.href;
}

/**
 * @param {string} value
 * @param {string} side
 * @param {string} own
 * @returns {boolean} whether the value differs from an absent parameter
 */
function isSaid(value, side, own) {
  return side !== '' || (value !== '' && !(own === 'end' && value === DEFAULT_NOW));
}

/**
 * Replace a parameter in place, so that the order of parameters does not change.
 * @param {URLSearchParams} parameters
 * @param {string} name
 * @param {string[]} values
 */
function replace(parameters, name, values) {
  const before = parameters.getAll(name);
  if (before.length === values.length && before.every((each, i) => each === values[i])) return;
  if (values.length === 1) return parameters.set(name, values[0]);
  parameters.delete(name);
  for (const value of values) parameters.append(name, value);
}

/** @param {URLSearchParams} parameters @param {string} name @param {string} changed */
function remove(parameters, name, changed) {
  for (const found of new Set(parameters.keys())) {
    const isFamily = FAMILIES.some((family) => name.endsWith(family));
    const meant = isFamily ? found.startsWith(name) : found === name;
    if (meant && found !== changed) parameters.delete(found);
  }
}

/**
 * Return the keys of the table that a change affects: for filters, each filter's option.
 * @param {URLSearchParams} parameters
 * @param {string} own
 * @param {string[]} values
 */
function findSources(parameters, own, values) {
  const family = FAMILIES.find((each) => own.startsWith(each));
  if (family) return [family];
  if (own !== 'f') return [own];
  const before = parameters.getAll('f');
  const differing = [
    ...before.filter((each) => !values.includes(each)),
    ...values.filter((each) => !before.includes(each)),
  ];
  return differing.map((each) => `f=${each.split(':')[0]}`);
}

/**
 * Return all dependents, direct and indirect.
 * @param {string[]} sources
 * @param {Dependents} dependents
 */
function collectDependents(sources, dependents) {
  /** @type {Set<string>} */
  const found = new Set();
  const open = [...sources];
  for (let source = open.pop(); source !== undefined; source = open.pop()) {
    for (const name of dependents[source] ?? []) {
      if (!found.has(name)) open.push(name);
      found.add(name);
    }
  }
  return found;
}

/**
 * Convert `from` and `to` to the equivalent `span` and `end`, one of which is about to change.
 * @param {URLSearchParams} parameters
 * @param {string} side
 */
function settleRange(parameters, side) {
  const [from, to] = [parameters.get(`${side}from`), parameters.get(`${side}to`)];
  const fixed = to && to !== DEFAULT_NOW ? to : '';
  const seconds = Math.round(((fixed ? Date.parse(fixed) : Date.now()) - Date.parse(from ?? '')) / SECOND_MS);
  if (from && seconds > 0) parameters.set(`${side}span`, `${seconds}s`);
  if (fixed) parameters.set(`${side}end`, fixed);
}
