// Upload form: <form data-upload action="…"> sends its file as the body, its fields as parameters.

/**
 * @typedef {object} StoredProfile
 * @property {string} type
 * @property {string} url
 * @property {string[]} warnings
 */

/** @param {Document} page */
export function watchUploads(page) {
  page.addEventListener('submit', (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !('upload' in form.dataset)) return;
    event.preventDefault();
    void upload(form);
  });
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
    return reply.profiles.map((/** @type {StoredProfile} */ each) => described(each, form));
  } catch {
    return [paragraph(form.dataset.failed ?? '', 'note bad')];
  }
}

/** @param {StoredProfile} profile @param {HTMLFormElement} form */
function described(profile, form) {
  const line = paragraph(`${typeName(profile.type, form)}: `, 'small');
  const link = document.createElement('a');
  // The address of the server itself: the console may be open under another name of the host.
  const address = new URL(profile.url);
  link.href = address.pathname + address.search;
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
