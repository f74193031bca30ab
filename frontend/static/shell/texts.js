/**
 * Translated texts and locale of the page. page.html has the texts, as attributes of
 * `<meta name="texts">`.
 */

const page = globalThis.document;

/**
 * Return a translated text of the page.
 * @param {string} name of the attribute, without `data-`
 * @param {string} english for a page without the attribute
 */
export function getText(name, english) {
  return page?.querySelector('meta[name="texts"]')?.getAttribute(`data-${name}`) ?? english;
}

/** Return the locale for dates: the browser's if it has the page's language, else that language. */
export function locale() {
  const language = page?.documentElement.lang;
  if (!language || getWrittenLanguage(navigator.language) === getWrittenLanguage(language)) return undefined;
  return language;
}

/**
 * Return a language with its script and without its region: `zh-Hans` for `zh-CN`, `zh-Hant` for `zh-TW`.
 * @param {string} tag
 */
function getWrittenLanguage(tag) {
  const { language, script } = new Intl.Locale(tag).maximize();
  return `${language}-${script}`;
}

/**
 * Return the options of a time of day: the clock has 12 or 24 hours as in the browser's region,
 * whatever the language of the page.
 * @returns {Intl.DateTimeFormatOptions}
 */
export function clock() {
  const { hourCycle } = new Intl.DateTimeFormat(navigator.language, { hour: 'numeric' }).resolvedOptions();
  const isHalfDay = hourCycle === 'h11' || hourCycle === 'h12';
  return { hour: isHalfDay ? 'numeric' : '2-digit', minute: '2-digit', hourCycle };
}
