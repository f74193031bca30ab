/** Upload form: <form data-upload action="…"> sends its file as the body, its fields as parameters. */

/**
 * @typedef {object} StoredProfile
 * @property {string} type
 * @property {string} url
 * @property {string[]} warnings
 */

/** @param {Document} page */
function watchUploads(page) {
  page.addEventListener('submit', (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !('upload' in form.dataset)) return;
    event.preventDefault();
    void upload(form);
  });
  page.addEventListener('change', (event) => {
    if (event.target instanceof HTMLInputElement && event.target.type === 'file') nameAfterFile(event.target);
  });
}

/**
 * Send dropped files by a form, which takes one.
 * @param {HTMLFormElement} form
 * @param {File[]} files
 */
export function sendFiles(form, files) {
  if (files.length !== 1) return showError(form, sentence(form, 'several', { n: String(files.length) }));
  const input = form.elements.namedItem('file');
  if (!(input instanceof HTMLInputElement)) return;
  const transfer = new DataTransfer();
  transfer.items.add(files[0]);
  input.files = transfer.files;
  nameAfterFile(input);
  form.requestSubmit();
}

/** Name a chosen file's snapshot after it. @param {HTMLInputElement} input */
function nameAfterFile(input) {
  const title = input.form?.querySelector('[data-file-name]');
  if (title instanceof HTMLInputElement && input.files?.[0]) title.value = input.files[0].name.slice(0, 200);
}

/** @param {HTMLFormElement} form */
async function upload(form) {
  const button = form.querySelector('button[type="submit"]');
  const result = form.querySelector('[data-result]');
  if (!(button instanceof HTMLButtonElement) || !result) return;
  button.disabled = true;
  result.replaceChildren(form.dataset.progress ?? '');
  result.replaceChildren(...(await send(form)));
  button.disabled = false;
}

/**
 * Send the file; return elements that describe the stored profiles, or the error.
 * @param {HTMLFormElement} form
 */
async function send(form) {
  const fields = new FormData(form);
  const parameters = new URLSearchParams();
  for (const [name, value] of fields) {
    const isParameter = typeof value === 'string' && value && name !== 'csrfmiddlewaretoken';
    if (isParameter) parameters.set(name, value);
  }
  const file = fields.get('file');
  const error = file instanceof File ? await findProblem(form, file) : '';
  if (error) return [errorNote(error)];
  try {
    const response = await fetch(`${form.action}?${parameters}`, {
      method: 'POST',
      body: file,
      headers: {
        'Content-Type': 'application/octet-stream',
        'X-CSRFToken': String(fields.get('csrfmiddlewaretoken')),
      },
    });
    const reply = await response.json();
    if (!response.ok) return [errorNote(reply.error.message)];
    const [first] = reply.profiles;
    if ('openFirst' in form.dataset && reply.profiles.length === 1 && form.isConnected) open(first);
    return reply.profiles.map((/** @type {StoredProfile} */ each) => describeProfile(each, form));
  } catch {
    return [errorNote(form.dataset.failed ?? '')];
  }
}

/**
 * Return why a file cannot be sent, or "".
 * @param {HTMLFormElement} form
 * @param {File} file
 */
async function findProblem(form, file) {
  const { name } = file;
  if (file.size > Number(form.dataset.limit)) {
    return sentence(form, 'tooLarge', { name, limit: form.dataset.limitText ?? '' });
  }
  try {
    await file.slice(0, 1).arrayBuffer(); // fails for a folder or a changed file
    return '';
  } catch {
    return sentence(form, 'unreadable', { name });
  }
}

/**
 * Return a sentence of the form with its values filled in.
 * @param {HTMLFormElement} form
 * @param {string} key
 * @param {Record<string, string>} values
 */
function sentence(form, key, values) {
  return (form.dataset[key] ?? '').replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '');
}

/** @param {HTMLFormElement} form @param {string} text */
function showError(form, text) {
  form.querySelector('[data-result]')?.replaceChildren(errorNote(text));
}

/** @param {string} text */
function errorNote(text) {
  return paragraph(text, 'note bad');
}

/** @param {StoredProfile} profile */
function open(profile) {
  location.assign(buildPath(profile));
}

/**
 * Return the address of a profile on the host of this page: the console may be open under another
 * name than the server's own.
 * @param {StoredProfile} profile
 */
function buildPath(profile) {
  const address = new URL(profile.url);
  return address.pathname + address.search;
}

/** @param {StoredProfile} profile @param {HTMLFormElement} form */
function describeProfile(profile, form) {
  const line = paragraph(`${typeName(profile.type, form)}: `, 'small');
  const link = document.createElement('a');
  link.href = buildPath(profile);
  link.textContent = form.dataset.open ?? '';
  line.append(link, ...profile.warnings.map((warning) => paragraph(warning, 'note warn')));
  return line;
}

/** @param {string} type @param {HTMLFormElement} form */
function typeName(type, form) {
  return form.querySelector(`option[value="${type}"]`)?.textContent ?? type;
}

/** @param {string} text @param {string} classes */
function paragraph(text, classes) {
  const element = document.createElement('div');
  element.className = classes;
  element.textContent = text;
  return element;
}

watchUploads(document);
