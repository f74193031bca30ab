/**
 * Package of a frame and its kind: own code, library, or native (interpreter and system).
 *
 * Derived from the file's path, or from the function's name in languages that put the package
 * there.
 */

/**
 * @typedef {object} Package
 * @property {string} name
 * @property {"own" | "library" | "native"} kind
 */

/** @typedef {(name: string, file: string) => Package | null} Rule */

const NATIVE = Object.freeze({ name: 'native', kind: /** @type {const} */ ('native') });
const STDLIB = Object.freeze({ name: 'stdlib', kind: /** @type {const} */ ('library') });

// Directory names that do not identify a package.
const EMPTY_FOLDERS = new Set(['src', 'lib', 'app', 'python', 'main', 'java', 'kotlin', 'scala', 'packages', 'code']);
// Directories where applications are deployed; code below them is the application's own.
const HEADS =
  /^\/?(?:usr\/src\/app|home\/[^/]+|Users\/[^/]+|root|srv|opt|app|code|workspace|work|var\/task|var\/www|tmp)\//;
const JAVA_OWN_RUNTIME = /^(?:java|javax|jdk|sun|com\.sun|kotlin|kotlinx|scala)\./;
const JAVA_LIBRARY = new RegExp(
  '^(?:org\\.(?:apache|springframework|hibernate|eclipse|slf4j|jboss|postgresql|h2|mockito|junit|glassfish|reactivestreams|jetbrains|json|bouncycastle|xerial|elasticsearch|mongodb|redisson|quartz)' +
    '|com\\.(?:google|fasterxml|mysql|zaxxer|amazonaws|netflix|squareup|datastax|rabbitmq|github\\.benmanes|microsoft|oracle)' +
    '|io\\.(?:netty|grpc|micrometer|vertx|micronaut|quarkus|lettuce|opentelemetry|undertow|projectreactor|reactivex)' +
    '|ch\\.qos|reactor|okhttp3|okio|retrofit2|redis\\.clients|software\\.amazon|net\\.bytebuddy|akka|play)\\.',
);

/**
 * @param {string} name function name as the agent reported it
 * @param {string} file its source file, "" if unknown
 * @returns {Package}
 */
export function packageOf(name, file) {
  const path = file.includes('\\') || file[1] === ':' ? file.replaceAll('\\', '/').replace(/^[A-Za-z]:\//, '/') : file;
  for (const rule of RULES) {
    const found = rule(name, path);
    if (found) return found;
  }
  return NATIVE;
}

// File extensions of languages in which a file belongs to exactly one package.
const WHOLE_ENDINGS = new Set(['py', 'pyx', 'pyi', 'go', 'rs', 'js', 'mjs', 'cjs', 'ts', 'mts', 'cts', 'jsx', 'tsx']);

/**
 * Return whether all functions of the file belong to the same package.
 * @param {string} name
 * @param {string} file
 */
export function isOfItsFile(name, file) {
  return WHOLE_ENDINGS.has(endingOf(file)) && !name.startsWith('(') && !name.includes('+0');
}

/** Return the file name extension, "" if there is none. @param {string} file */
function endingOf(file) {
  return file.slice(file.lastIndexOf('.') + 1 || file.length);
}

const NATIVE_ENDINGS = new Set(['c', 'cc', 'cpp', 'cxx', 'h', 'hpp', 'S', 's', 'so', 'dylib', 'dll']);

/** @type {Rule} */
function nativeFrame(name, file) {
  if (NATIVE_ENDINGS.has(endingOf(file))) return NATIVE;
  // Regular expressions run last and rarely: this runs for each function while a page opens.
  const binary = (name.includes('+0') && /\+0x[0-9a-f]+$/i.test(name)) || /\.(?:so|dylib|dll)\.[\d.]+$/.test(file);
  const engine = name.startsWith('(') && /^\((?:garbage collector|program|idle|native)\)$/.test(name);
  return binary || engine || (file.startsWith('<') && /^<(?:frozen|built-in|string)/.test(file)) ? NATIVE : null;
}

const PYTHON_ENDINGS = new Set(['py', 'pyx', 'pyi']);

/** @type {Rule} */
function pythonFrame(_name, file) {
  if (!PYTHON_ENDINGS.has(endingOf(file))) return null;
  const installed = /\/(?:site|dist)-packages\/([^/]+)/.exec(file);
  if (installed) return { name: installed[1].replace(/\.py[xi]?$/, ''), kind: 'library' };
  if (/\/python\d[\d.]*t?(?:\.zip)?\//i.test(file)) return STDLIB;
  return folders(file);
}

/** @type {Rule} */
function goFrame(name, file) {
  if (!file.endsWith('.go')) return null;
  const module = file.includes('@v') ? /(?:\/pkg\/mod\/|\/vendor\/|^)((?:[^/]+\/)*[^/]+)@v[^/]*\//.exec(file) : null;
  if (module) return { name: short(module[1]), kind: 'library' };
  const imported = goImport(name);
  if (imported === 'runtime' || imported.startsWith('runtime/')) return NATIVE;
  const vendored = file.includes('/vendor/') ? /\/vendor\/([^/]+\/[^/]+(?:\/[^/]+)?)\//.exec(file) : null;
  if (vendored) return { name: short(vendored[1]), kind: 'library' };
  if (imported === 'main') return { name: 'main', kind: 'own' };
  if (!imported.split('/')[0].includes('.') && /\/go[^/]*\/src\/|^[a-z]/.test(file)) return STDLIB;
  return { name: short(imported), kind: 'own' };
}

/**
 * Return the package of a Go function: `net/http.(*conn).serve` → `net/http`.
 * @param {string} name
 */
function goImport(name) {
  const slash = name.lastIndexOf('/') + 1;
  const dot = name.indexOf('.', slash);
  return dot < 0 ? name : name.slice(0, dot);
}

/** Remove the host of an import path. @param {string} path */
function short(path) {
  const parts = path.split('/');
  return (parts.length > 1 && parts[0].includes('.') ? parts.slice(1) : parts).join('/');
}

/** @type {Rule} */
function nodeFrame(_name, file) {
  if (file.startsWith('node:') || file.startsWith('internal/')) return STDLIB;
  if (!/\.(?:[cm]?js|[cm]?ts|jsx|tsx)$/.test(file)) return null;
  const parts = file.split('/node_modules/');
  if (parts.length < 2 && !file.startsWith('node_modules/')) return folders(file);
  const inside = parts[parts.length - 1].replace(/^node_modules\//, '').split('/');
  return { name: inside[0].startsWith('@') ? `${inside[0]}/${inside[1]}` : inside[0], kind: 'library' };
}

/** @type {Rule} */
function javaFrame(name, file) {
  const bare = !file && /^(?:[a-z][\w]*\.)+[A-Z][\w$]*\./.test(name);
  if (!bare && !/\.(?:java|kt|scala|groovy)$/.test(file)) return null;
  if (JAVA_OWN_RUNTIME.test(name)) return STDLIB;
  const parts = name.replace(/\(.*$/, '').split('.');
  const type = parts.findIndex((part) => /^[A-Z]/.test(part));
  const whole = type > 0 ? parts.slice(0, type) : parts.slice(0, -1);
  if (whole.length === 0) return folders(file);
  const library = JAVA_LIBRARY.test(name);
  return { name: whole.slice(0, library ? 3 : 4).join('.'), kind: library ? 'library' : 'own' };
}

/** @type {Rule} */
function rustFrame(_name, file) {
  if (!file.endsWith('.rs')) return null;
  const crate = /\/registry\/src\/[^/]+\/(.+?)-\d[^/]*\//.exec(file);
  if (crate) return { name: crate[1], kind: 'library' };
  return /^\/rustc\/|\/library\/(?:std|core|alloc)\//.test(file) ? STDLIB : folders(file);
}

/** @type {Rule} */
function otherFrame(_name, file) {
  return file ? folders(file) : null;
}

/**
 * Name own code by the last two directories of its path, or by the file if there are none.
 * @param {string} file
 * @returns {Package}
 */
function folders(file) {
  const parts = file.replace(HEADS, '').split('/').filter(Boolean);
  const stem = (parts.pop() ?? '').replace(/\.[^.]+$/, '');
  const telling = parts.filter((part) => !EMPTY_FOLDERS.has(part));
  return { name: telling.slice(-2).join('.') || stem || 'native', kind: 'own' };
}

const RULES = [nativeFrame, pythonFrame, goFrame, nodeFrame, javaFrame, rustFrame, otherFrame];

// Colours of each kind: position and number in the palette.
const SLOTS = { own: { first: 0, count: 4 }, library: { first: 4, count: 8 }, native: { first: 12, count: 1 } };

/** Tokens of the palette: names of CSS custom properties without the leading dashes. */
export const PACKAGE_TOKENS = [
  ...[1, 2, 3, 4].map((i) => `own-${i}`),
  ...[1, 2, 3, 4, 5, 6, 7, 8].map((i) => `lib-${i}`),
  'native',
];

/**
 * Choose a package's colour by a hash of its name, so that it is the same in every view.
 * @param {Package} from
 * @returns {number} index into PACKAGE_TOKENS
 */
export function slotOf(from) {
  const { first, count } = SLOTS[from.kind];
  return first + (hash(from.name) % count);
}

// Seed chosen so that the most common libraries have distinct colours.
const SEED = 1101905;

/**
 * Return the 32-bit FNV-1a hash of the UTF-16 units, starting at SEED and mixed at the end.
 * @param {string} text
 */
function hash(text) {
  let value = SEED;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value ^= value >>> 15;
  return (Math.imul(value, 0x2c1b3c6d) >>> 0) >>> 8;
}
