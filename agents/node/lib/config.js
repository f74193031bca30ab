'use strict';

/** @typedef {import("../index").ProfileType} ProfileType */
/** @typedef {import("../index").Settings} Settings */

/**
 * @typedef {object} Config
 * @property {string} service
 * @property {string} version
 * @property {string} zone
 * @property {string} url without a trailing slash
 * @property {string} key
 * @property {string} project
 * @property {ProfileType[]} types
 * @property {(line: string) => void} log
 */

const OWN_PROJECT = '-'; // the project that the key belongs to
const SERVICE = /^[a-z0-9]([-a-z0-9_.]{0,253}[a-z0-9])?$/;
const PROJECT = /^([a-z0-9][-a-z0-9.:]{0,127}|-)$/;
const KEY = /^[!-~]{8,4096}$/;
// eslint-disable-next-line no-control-regex
const CONTROL = /[\x00-\x1f\x7f]/;
const LONGEST_LABEL = 512; // bytes
/** @type {ProfileType[]} */
const DEFAULT_TYPES = ['CPU', 'WALL', 'HEAP'];
const ALL_TYPES = [...DEFAULT_TYPES, 'HEAP_ALLOC'];

/**
 * Return the configuration, and its errors. No message contains the key.
 *
 * @param {Settings} settings
 * @param {Record<string, string | undefined>} env
 * @returns {{ config: Config, problems: string[] }}
 */
function read(settings, env) {
  const foreign = first(env.K_SERVICE, env.GAE_SERVICE, env.OTEL_SERVICE_NAME);
  const config = {
    service: first(settings.service, env.FLAMEWATCH_SERVICE) || nearestService(foreign),
    version: first(settings.version, env.FLAMEWATCH_VERSION, env.K_REVISION, env.GAE_VERSION),
    zone: first(settings.zone, env.FLAMEWATCH_ZONE),
    url: first(settings.url, env.FLAMEWATCH_URL).replace(/\/+$/, ''),
    key: first(settings.key, env.FLAMEWATCH_KEY),
    project: first(settings.project, env.FLAMEWATCH_PROJECT) || OWN_PROJECT,
    types: settings.types ?? parseTypes(env.FLAMEWATCH_TYPES),
    log: settings.log ?? ((/** @type {string} */ line) => console.warn(line)),
  };
  const problems = [
    keyProblem(config.key),
    urlProblem(config.url),
    serviceProblem(config.service),
    PROJECT.test(config.project)
      ? ''
      : `invalid project id ${quoteText(config.project)}: omit it, the API key identifies the project`,
    labelProblem('version', config.version),
    labelProblem('zone', config.zone),
    typesProblem(config.types),
  ];
  return { config, problems: problems.filter(Boolean) };
}

/** @param {unknown[]} texts */
function first(...texts) {
  const found = texts.map((text) => (text == null ? '' : String(text).trim()));
  return found.find(Boolean) ?? '';
}

/**
 * @param {string | undefined} text
 * @returns {ProfileType[]}
 */
function parseTypes(text) {
  const names = (text ?? '').split(',').map((name) => name.trim().toUpperCase());
  const types = /** @type {ProfileType[]} */ (names.filter(Boolean));
  return types.length ? types : DEFAULT_TYPES;
}

/** @param {string} name */
function nearestService(name) {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, '-')
    .slice(0, 255)
    .replace(/^[-_.]+|[-_.]+$/g, '');
}

/** @param {string} key */
function keyProblem(key) {
  if (!key) return 'no API key: set FLAMEWATCH_KEY or pass key';
  if (!KEY.test(key)) return 'invalid API key (FLAMEWATCH_KEY or key): wrong characters or length';
  return '';
}

/** @param {string} address */
function urlProblem(address) {
  if (!address) return 'no server address: set FLAMEWATCH_URL or pass url';
  // The address is not repeated: it may contain a password.
  const problem =
    'invalid server address (FLAMEWATCH_URL or url): use https://HOST or https://HOST:PORT, optionally with a path';
  try {
    const url = new URL(address);
    const isWeb = url.protocol === 'http:' || url.protocol === 'https:';
    const extras = url.username || url.password || url.search || url.hash;
    return isWeb && url.hostname && !extras ? '' : problem;
  } catch {
    return problem;
  }
}

/** @param {string} service */
function serviceProblem(service) {
  if (!service) return 'no service name: set FLAMEWATCH_SERVICE or pass service';
  if (SERVICE.test(service)) return '';
  const near = nearestService(service);
  const example = near ? `, for example ${quoteText(near)}` : '';
  return `invalid service name ${quoteText(service)}: use lower-case letters, digits, '-', '_' and '.', at most 255${example}`;
}

/**
 * @param {string} name
 * @param {string} value
 */
function labelProblem(name, value) {
  if (CONTROL.test(value)) return `the ${name} contains a control character`;
  const size = Buffer.byteLength(value);
  return size > LONGEST_LABEL ? `the ${name} has ${size} bytes; the limit is ${LONGEST_LABEL}` : '';
}

/** @param {string[]} types */
function typesProblem(types) {
  const unknown = types.find((type) => !ALL_TYPES.includes(type));
  if (unknown !== undefined) {
    return `unknown profile type ${quoteText(String(unknown))}; the types are ${ALL_TYPES.join(', ')}`;
  }
  if (!types.length) return 'no profile types: types is empty';
  // V8 has one sampling heap profiler, which either drops freed objects or keeps them.
  return types.includes('HEAP') && types.includes('HEAP_ALLOC')
    ? 'HEAP and HEAP_ALLOC exclude each other: choose one of them'
    : '';
}

/** @param {string} text */
function quoteText(text) {
  return JSON.stringify(text.slice(0, 80));
}

module.exports = { OWN_PROJECT, read };
