/**
 * Package of a function: the unit that the graph's colours, legend and labels name.
 *
 * - Go: the import path, with its module shortened to the module's last element
 * - Java, Kotlin, Scala: the package of the class
 * - Python: the installed distribution (its top-level import name)
 * - Node.js: the package in node_modules, with its scope
 * - Rust: the crate
 * - own code of Python and Node.js: the last two directories of its file
 * - addresses without symbols: their executable or library
 * - native code by its file, a binary, or by its name
 * - a function without a file whose name has no package: an unknown one
 *
 * Derived from the source file's path, or from the function's name in languages that put the
 * package there. frontend/pages/embed/packages.py is the same for images that the server draws; the
 * tests compare both.
 */

/**
 * @typedef {object} Package
 * @property {string} name as shown
 * @property {string} path identity: differs for packages of equal names
 * @property {"own" | "library" | "stdlib" | "native" | "unknown"} kind
 */

/** @typedef {(name: string, file: string) => Package | null} Rule */

/** @param {string} name @param {Package["kind"]} kind @param {string} [path] @returns {Package} */
const packaged = (name, kind, path = name) => ({ name, path, kind });

const NATIVE = Object.freeze(packaged('native', 'native'));
const UNKNOWN = Object.freeze(packaged('unknown', 'unknown'));
/** Standard library of languages whose functions do not name one of its packages. */
const STDLIB = Object.freeze(packaged('stdlib', 'stdlib'));

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
// First elements of the import paths of Go's standard library.
const GO_STDLIB = new Set(
  (
    'archive arena bufio bytes cmp compress container context crypto database debug embed encoding errors expvar ' +
    'flag fmt go hash html image index internal io iter log maps math mime net os path plugin reflect regexp ' +
    'runtime slices sort strconv strings structs sync syscall testing text time unicode unique unsafe weak'
  ).split(' '),
);
// Hosts whose module paths have an owner and a repository; others have one element after the host.
const GO_HOSTS = new Set(['github.com', 'gitlab.com', 'bitbucket.org', 'codeberg.org', 'golang.org']);
// Last elements of module paths that say too little without the one before.
const GO_VAGUE = new Set('api client common core db go kit lib sdk server sys util utils'.split(' '));
// Top-level import names that several Python distributions share.
const PYTHON_NAMESPACES = new Set(['google', 'azure', 'zope', 'sphinxcontrib', 'backports', 'jaraco']);

/**
 * @param {string} name function name as the agent reported it
 * @param {string} file its source file, "" if unknown
 * @returns {Package}
 */
export function packageOf(name, file) {
  const path = withSlashes(file);
  for (const rule of RULES) {
    const found = rule(name, path);
    if (found) return found;
  }
  return path ? NATIVE : UNKNOWN; // a file without an ending is a binary
}

/** Return a path with slashes, without a drive or the scheme of a file URL. @param {string} file */
function withSlashes(file) {
  if (file.startsWith('file://')) return file.slice('file://'.length);
  return file.includes('\\') || file[1] === ':' ? file.replaceAll('\\', '/').replace(/^[A-Za-z]:\//, '/') : file;
}

// File extensions of languages in which a file belongs to exactly one package.
const WHOLE_ENDINGS = new Set(['py', 'pyx', 'pyi', 'go', 'js', 'mjs', 'cjs', 'ts', 'mts', 'cts', 'jsx', 'tsx']);

/**
 * Return whether all functions of the file belong to the same package. A Go file without a folder
 * may be one of several packages: cgo makes a `_cgo_gotypes.go` for each.
 * @param {string} name
 * @param {string} file
 */
export function isOfItsFile(name, file) {
  const ending = endingOf(file);
  if (!WHOLE_ENDINGS.has(ending) || (ending === 'go' && !file.includes('/'))) return false;
  return !name.startsWith('(') && !name.includes('+0');
}

/** Return the file name extension, "" if there is none. @param {string} file */
function endingOf(file) {
  return file.slice(file.lastIndexOf('.') + 1 || file.length);
}

/** Binaries inside an installed package: extension modules of Python and Node.js. @type {Rule} */
function installedBinary(_name, file) {
  if (!file.includes('-packages/') && !file.includes('/node_modules/')) return null;
  if (!/\.(?:so|pyd|dylib|dll|node)(?:\.[\d.]+)?$/.test(file)) return null;
  return installedPython(file) ?? installedNode(file);
}

const NATIVE_ENDINGS = new Set(['c', 'cc', 'cpp', 'cxx', 'h', 'hpp', 'S', 's', 'so', 'dylib', 'dll']);

/** @type {Rule} */
function nativeFrame(name, file) {
  // Regular expressions run last and rarely: this runs for each function while a page opens.
  if (name.includes('+0') && (!file || file.startsWith('[build-id '))) {
    // The kernel and what has no name stay native code.
    const address = /^([^?[].*)\+0x[0-9a-f]+$/is.exec(name);
    if (address) return packaged(address[1], 'library');
  }
  if (NATIVE_ENDINGS.has(endingOf(file))) return NATIVE;
  const binary = (name.includes('+0') && /\+0x[0-9a-f]+$/i.test(name)) || /\.(?:so|dylib|dll)\.[\d.]+$/.test(file);
  const engine = name.startsWith('(') && /^\((?:garbage collector|program|idle|native)\)$/.test(name);
  const kernel = file.startsWith('[');
  return binary || engine || kernel || (file.startsWith('<') && /^<(?:built-in|string)/.test(file)) ? NATIVE : null;
}

const PYTHON_ENDINGS = new Set(['py', 'pyx', 'pyi']);

/** @type {Rule} */
function pythonFrame(_name, file) {
  if (file.startsWith('<frozen')) return STDLIB;
  if (!PYTHON_ENDINGS.has(endingOf(file))) return null;
  const installed = installedPython(file);
  if (installed) return installed;
  if (/\/python\d[\d.]*t?(?:\.zip)?\//i.test(file)) return STDLIB;
  return folders(file);
}

/** @param {string} file @returns {Package | null} */
function installedPython(file) {
  const parts = /\/(?:site|dist)-packages\/(.+)/.exec(file)?.[1].split('/');
  if (!parts) return null;
  const levels = PYTHON_NAMESPACES.has(parts[0]) ? (parts[1] === 'cloud' ? 3 : 2) : 1;
  const names = parts.slice(0, Math.max(1, Math.min(levels, parts.length - 1)));
  // numpy.libs has the shared libraries of numpy; modules without a folder have an extension.
  const last = names[names.length - 1].replace(/\.libs$|\.(?:py[xid]?|(?:[\w-]+\.)?so)$/, '');
  return packaged([...names.slice(0, -1), last].join('.'), 'library');
}

/** @type {Rule} */
function goFrame(name, file) {
  if (!isGo(name, file)) return null;
  const imported = goImport(name);
  if (imported === 'main' || imported.startsWith('main/')) return packaged('main', 'own');
  const standard = goStandardImport(imported, file);
  if (standard) {
    const isRuntime = /^(?:runtime\/internal|internal\/runtime)(?:\/|$)/.test(standard);
    return packaged(isRuntime ? 'runtime' : standard.replace(/^vendor\/golang\.org\//, ''), 'stdlib');
  }
  const versioned = file.includes('@v') ? /(?:\/pkg\/mod\/|\/vendor\/|^)((?:[^/]+\/)*[^/]+)@v[^/]*\//.exec(file) : null;
  const kind = versioned || file.includes('/vendor/') ? 'library' : 'own';
  const parts = imported.split('/');
  const inModule = versioned ? versioned[1].split('/').length : goModuleLength(parts);
  return packaged(shortImport(parts, inModule), kind, imported);
}

/** @param {string} name @param {string} file */
function isGo(name, file) {
  if (file.endsWith('.go')) return true;
  if (file.endsWith('.s')) return name.includes('.'); // Go's assembly; native symbols have no dot
  if (file && file !== '<autogenerated>') return false;
  return name.startsWith('runtime.') || name.includes('.(*') || /^[^.(]+\/[a-z][\w-]*\./.test(goPath(name));
}

/**
 * Return the import path of a function of Go's standard library, "" for other functions.
 *
 * A file in Go's source tree decides: the runtime has functions under the names of other packages.
 * @param {string} imported
 * @param {string} file
 */
function goStandardImport(imported, file) {
  if (!isStandard(imported)) return '';
  const parent = file.slice(0, Math.max(0, file.lastIndexOf('/')));
  if (!file.startsWith('/')) return isStandard(parent) ? parent : imported; // built with -trimpath
  const root = file.lastIndexOf('/src/');
  const folder = root < 0 ? '' : parent.slice(root + '/src/'.length);
  return isStandard(folder) ? folder : '';
}

/** Return whether an import path begins like one of Go's standard library. @param {string} imported */
function isStandard(imported) {
  const first = imported.split('/', 1)[0];
  return GO_STDLIB.has(first) || first === 'vendor';
}

/** Remove the type arguments of a Go function: they contain import paths too. @param {string} name */
function goPath(name) {
  const bracket = name.indexOf('[');
  return bracket < 0 ? name : name.slice(0, bracket);
}

/**
 * Return the length of the import path in a Go function's name: 8 for `net/http.(*conn).serve`.
 * @param {string} name
 */
function goImportLength(name) {
  const path = goPath(name);
  const receiver = path.indexOf('(');
  const slash = path.lastIndexOf('/', receiver < 0 ? path.length : receiver);
  const dot = path.indexOf('.', slash + 1);
  return dot < 0 ? path.length : dot;
}

/** Return the import path of a Go function. @param {string} name */
function goImport(name) {
  const imported = name.slice(0, goImportLength(name));
  // Linkers write a dot in the last element as %2e.
  return imported.includes('%2e') ? imported.replaceAll('%2e', '.') : imported;
}

/** Return the number of elements of an import path that are its module's. @param {string[]} parts */
function goModuleLength(parts) {
  if (!parts[0].includes('.')) return 1;
  const length = GO_HOSTS.has(parts[0]) ? 3 : 2;
  return /^v\d+$/.test(parts[length] ?? '') ? length + 1 : length;
}

/**
 * Return an import path that begins with the module's last element, without its version.
 * @param {string[]} parts
 * @param {number} inModule number of elements of the module
 */
function shortImport(parts, inModule) {
  const last = inModule > 1 && /^v\d+$/.test(parts[inModule - 1] ?? '') ? inModule - 2 : inModule - 1;
  const at = Math.min(last, parts.length - 1);
  const isVague = at > 0 && (GO_VAGUE.has(parts[at]) || GO_STDLIB.has(parts[at]));
  return [...parts.slice(isVague ? at - 1 : at, at + 1), ...parts.slice(inModule)].join('/');
}

/** @type {Rule} */
function nodeFrame(_name, file) {
  if (file.startsWith('node:') || file.startsWith('internal/')) return STDLIB;
  if (!/\.(?:[cm]?js|[cm]?ts|jsx|tsx)$/.test(file)) return null;
  return installedNode(file) ?? folders(file);
}

/** @param {string} file @returns {Package | null} */
function installedNode(file) {
  const parts = file.split('/node_modules/');
  if (parts.length < 2 && !file.startsWith('node_modules/')) return null;
  const inside = parts[parts.length - 1].replace(/^node_modules\//, '').split('/');
  return packaged(inside.slice(0, inside[0].startsWith('@') ? 2 : 1).join('/'), 'library');
}

/** @type {Rule} */
function javaFrame(name, file) {
  const bare = !file && /^(?:[a-z][\w]*\.)+[A-Z][\w$]*\./.test(name);
  if (!bare && !/\.(?:java|kt|scala|groovy)$/.test(file)) return null;
  const length = javaPackageLength(name);
  const kind = JAVA_OWN_RUNTIME.test(name) ? 'stdlib' : JAVA_LIBRARY.test(name) ? 'library' : 'own';
  return length ? packaged(name.slice(0, length), kind) : folders(file);
}

/**
 * Return the length of the package in a Java method's name: 9 for `java.util.HashMap.get`.
 * @param {string} name
 */
function javaPackageLength(name) {
  const plain = name.replace(/[(<].*$/s, '');
  const type = /(?:^|\.)[A-Z]/.exec(plain);
  if (type) return type.index;
  const method = plain.lastIndexOf('.');
  return Math.max(0, method);
}

/** @type {Rule} */
function rustFrame(name, file) {
  if (!file.endsWith('.rs')) return null;
  const registered = /\/registry\/src\/[^/]+\/([^/]+?)-\d[^/]*\//.exec(file);
  if (registered) return packaged(registered[1], 'library');
  if (/^\/rustc\/|\/library\/(?:std|core|alloc)\//.test(file)) return STDLIB;
  const crate = /^[<&*([]*(?:(?:mut|dyn|const) )*([a-zA-Z_]\w*)::/.exec(name)?.[1];
  if (!crate) return folders(file);
  return packaged(crate, file.includes('/.cargo/git/') ? 'library' : 'own');
}

/** Source files of other languages; binaries have no such ending. @type {Rule} */
function otherFrame(_name, file) {
  return /\.[a-zA-Z]+$|^<\w/.test(file) ? folders(file) : null;
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
  return packaged(telling.slice(-2).join('.') || stem || 'native', 'own');
}

const RULES = [goFrame, installedBinary, nativeFrame, pythonFrame, nodeFrame, javaFrame, rustFrame, otherFrame];

/**
 * Return a function's name without its package, if the name begins with it: `(*Decoder).Token`.
 * @param {string} name
 * @param {string} file
 * @returns {string} the name itself in other languages
 */
export function nameInPackage(name, file) {
  const path = withSlashes(file);
  if (goFrame(name, path)) return name.slice(goImportLength(name)).replace(/^\./, '') || name;
  if (javaFrame(name, path)) return name.slice(javaPackageLength(name)).replace(/^\./, '') || name;
  return name;
}
