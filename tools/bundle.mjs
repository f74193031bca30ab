/**
 * Bundle the browser's modules: `node tools/bundle.mjs [FOLDER]`, by default into frontend/bundles.
 *
 * Each script that a template names is a file of its path, and so is each module that one loads later. Modules that
 * several of them need are in one file, which pages load first: a file for each set of pages would be exact, but then
 * the flame page has 27 files instead of 10. `sources.sha256` says of which modules the files are made.
 */

import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { rolldown } from 'rolldown';

const ROOT = resolve(import.meta.dirname, '..');
const SOURCES = join(ROOT, 'frontend/static');
const TEMPLATES = join(ROOT, 'frontend/templates');
const SHARED = 'bundles/common.js';
// Served as they are: vendored ones, and those of django-allauth.
const LIBRARIES = /^(vendor|mfa|account)\//;
// Scripts that run while the document is parsed, before any module: they are no modules.
const CLASSIC = ['shell/early.js', 'flame-graph/page/early-tree.js'];
// Workers are found beside the file that starts them, which is the shared one.
const WORKERS = { 'bundles/expression-worker.js': 'flame-graph/search/expression-worker.js' };

/** @param {string} folder @param {string} suffix @returns {Promise<string[]>} paths below the folder, sorted */
async function list(folder, suffix) {
    const names = await readdir(folder, { recursive: true });
    return names.filter((name) => name.endsWith(suffix) && !name.startsWith('vendor')).sort();
}

/** Return the scripts that templates name. @returns {Promise<string[]>} */
async function entries() {
    const texts = await Promise.all(
        (await list(TEMPLATES, '.html')).map((name) => readFile(join(TEMPLATES, name), 'utf8')),
    );
    const named = texts.flatMap((text) => [...text.matchAll(/\{% static '([^']+\.js)' %\}/g)].map(([, name]) => name));
    return [...new Set(named)].filter((name) => !LIBRARIES.test(name) && name !== SHARED).sort();
}

/** Hash the paths and texts of all modules, as profiler_site/static_files/bundles.py does. */
async function fingerprint() {
    const hash = createHash('sha256');
    for (const name of await list(SOURCES, '.js')) {
        const digest = createHash('sha256').update(await readFile(join(SOURCES, name)));
        hash.update(`${name} ${digest.digest('hex')}\n`);
    }
    return `${hash.digest('hex')}\n`;
}

/** @param {Record<string, string>} files sources by target @param {object} output */
async function bundle(files, output) {
    const input = Object.entries(files).map(([target, source]) => [target.slice(0, -3), join(SOURCES, source)]);
    const build = await rolldown({ input: Object.fromEntries(input), preserveEntrySignatures: 'allow-extension' });
    return (await build.generate({ entryFileNames: '[name].js', minify: true, ...output })).output;
}

/**
 * Return modules that others load later. As entries of their own they share modules through the shared file, and do not
 * import the file that loads them.
 * @param {Record<string, string>} files sources by target
 */
async function lazyModules(files) {
    const lazy = (await bundle(files, { format: 'esm' })).filter((chunk) => chunk.isDynamicEntry);
    return lazy.map((chunk) => relative(SOURCES, chunk.facadeModuleId));
}

/** @param {string[]} names @returns {Record<string, string>} */
function sameNames(names) {
    return Object.fromEntries(names.map((name) => [name, name]));
}

const target = resolve(process.argv[2] ?? join(ROOT, 'frontend/bundles'));
const modules = { ...sameNames((await entries()).filter((name) => !CLASSIC.includes(name))), ...WORKERS };
const chunks = await bundle(
    { ...modules, ...sameNames(await lazyModules(modules)) },
    {
        format: 'esm',
        chunkFileNames: SHARED,
        codeSplitting: { groups: [{ name: 'common', minShareCount: 2 }] },
    },
);
for (const name of CLASSIC) chunks.push(...(await bundle({ [name]: name }, { format: 'iife' })));
await rm(target, { recursive: true, force: true });
for (const { fileName, code } of chunks) {
    await mkdir(dirname(join(target, fileName)), { recursive: true });
    // Django gives imports the hashed names of their files, if quotes are around them.
    await writeFile(join(target, fileName), code.replace(/\bimport\(`([^`$]+)`\)/g, 'import("$1")'));
}
await writeFile(join(target, 'sources.sha256'), await fingerprint());
