// Upload form: <form data-upload action="…"> sends its file as the body, its fields as parameters.

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
}

/**
 * Send a file that is dropped onto a page with a form for files ([data-open-first]), and name a
 * chosen file's snapshot after it.
 * @param {Document} page
 */
function watchDrops(page) {
  page.addEventListener('dragover', (event) => {
    if (dropForm(page) && event.dataTransfer?.types.includes('Files')) event.preventDefault();
  });
  page.addEventListener('drop', (event) => {
    const form = dropForm(page);
    const input = form?.elements.namedItem('file');
    const files = event.dataTransfer?.files;
    if (!form || !files?.length || !(input instanceof HTMLInputElement)) return;
    event.preventDefault();
    input.files = files;
    nameAfterFile(input);
    form.requestSubmit();
  });
  page.addEventListener('change', (event) => {
    if (event.target instanceof HTMLInputElement && event.target.type === 'file') nameAfterFile(event.target);
  });
}

/** @param {Document} page @returns {HTMLFormElement | null} */
function dropForm(page) {
  return page.querySelector('form[data-open-first]');
}

/** @param {HTMLInputElement} input */
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
  try {
    const response = await fetch(`${form.action}?${parameters}`, {
      method: 'POST',
      body: fields.get('file'),
      headers: {
        'Content-Type': 'application/octet-stream',
        'X-CSRFToken': String(fields.get('csrfmiddlewaretoken')),
      },
    });
    const reply = await response.json();
    if (!response.ok) return [paragraph(reply.error.message, 'note bad')];
    const [first] = reply.profiles;
    if ('openFirst' in form.dataset && reply.profiles.length === 1) open(first);
    return reply.profiles.map((/** @type {StoredProfile} */ each) => described(each, form));
  } catch {
    return [paragraph(form.dataset.failed ?? '', 'note bad')];
  }
}

/** @param {StoredProfile} profile */
function open(profile) {
  location.assign(pathOf(profile));
}

/**
 * Return the address of a profile on the host of this page: the console may be open under another
 * name than the server's own.
 * @param {StoredProfile} profile
 */
function pathOf(profile) {
  const address = new URL(profile.url);
  return address.pathname + address.search;
}

/** @param {StoredProfile} profile @param {HTMLFormElement} form */
function described(profile, form) {
  const line = paragraph(`${typeName(profile.type, form)}: `, 'small');
  const link = document.createElement('a');
  link.href = pathOf(profile);
  link.textContent = form.dataset.open ?? '';
  line.append(link, ...profile.warnings.map((warning) => paragraph(warning, 'muted')));
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
watchDrops(document);

export {};
