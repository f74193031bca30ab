/** Calendar of one month in which days with profiles have a dot; a click selects a day, a second one several. */

import { locale } from '../shell/texts.js';

/** @typedef {Record<string, string | undefined>} Texts attributes of the range menu, with the URL of the data */

const DAYS_OF_WEEK = 7;
const MONDAY = 1;
const STEPS = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -DAYS_OF_WEEK, ArrowDown: DAYS_OF_WEEK };

const titleFormat = new Intl.DateTimeFormat(locale(), { month: 'long', year: 'numeric' });
const weekdayFormat = new Intl.DateTimeFormat(locale(), { weekday: 'short' });
const dayFormat = new Intl.DateTimeFormat(locale(), { weekday: 'long', day: 'numeric', month: 'long' });

/** Return midnight of a day, some days later. @param {Date} time @param {number} [later] */
function getMidnight(time, later = 0) {
  return new Date(time.getFullYear(), time.getMonth(), time.getDate() + later);
}

/** Return the first day of the week, 0 for Sunday, in the browser's region. */
function firstWeekday() {
  const region = /** @type {{getWeekInfo?: () => {firstDay: number}, weekInfo?: {firstDay: number}}} */ (
    /** @type {unknown} */ (new Intl.Locale(navigator.language))
  );
  const info = region.getWeekInfo?.() ?? region.weekInfo;
  return (info?.firstDay ?? MONDAY) % DAYS_OF_WEEK;
}

export class Calendar {
  /** @param {HTMLElement} host @param {Texts} texts */
  constructor(host, texts) {
    this.host = host;
    this.texts = texts;
    this.month = getMidnight(new Date()); // some day of the shown month
    this.from = this.to = this.month;
    /** @type {Date | null} */
    this.first = null; // selected day that a second click extends
    /** @type {(start: Date, end: Date) => void} */
    this.choose = () => undefined;
    host.addEventListener('keydown', (event) => this.press(event));
  }

  /** Show the month in which a range ends. @param {Date} from @param {Date} to */
  show(from, to) {
    this.first = null;
    const last = new Date(to.getTime() - 1);
    this.month = Number.isNaN(last.getTime()) ? getMidnight(new Date()) : getMidnight(last);
    this.draw();
    this.mark(from, to);
    this.host.hidden = false;
  }

  /** Mark the days of a range as selected. @param {Date} from @param {Date} to */
  mark(from, to) {
    [this.from, this.to] = [from, to];
    for (const [button, day] of this.buttons()) {
      const inside = day < to && getMidnight(day, 1) > from;
      button.setAttribute('aria-pressed', String(inside));
    }
  }

  /** @returns {[HTMLButtonElement, Date][]} */
  buttons() {
    return [...this.host.querySelectorAll('button[data-day]')]
      .filter((button) => button instanceof HTMLButtonElement)
      .map((button) => [button, new Date(`${button.dataset.day}T00:00`)]);
  }

  draw() {
    const start = new Date(this.month.getFullYear(), this.month.getMonth(), 1);
    const next = new Date(start.getFullYear(), start.getMonth() + 1, 1);
    const table = document.createElement('table');
    const heads = table.createTHead().insertRow();
    const gap = (start.getDay() - firstWeekday() + DAYS_OF_WEEK) % DAYS_OF_WEEK;
    for (let i = 0; i < DAYS_OF_WEEK; i++) {
      const head = document.createElement('th');
      head.scope = 'col';
      head.textContent = weekdayFormat.format(getMidnight(start, i - gap));
      heads.append(head);
    }
    const body = table.createTBody();
    let row = body.insertRow();
    for (let i = 0; i < gap; i++) row.insertCell();
    for (let day = start; day < next; day = getMidnight(day, 1)) {
      if (row.childElementCount === DAYS_OF_WEEK) row = body.insertRow();
      row.insertCell().append(this.button(day));
    }
    const legend = document.createElement('p');
    legend.className = 'small muted';
    legend.setAttribute('role', 'status');
    this.host.replaceChildren(this.header(start), table, legend);
    void this.load(start, next, legend);
  }

  /** @param {Date} start */
  header(start) {
    const header = document.createElement('header');
    const title = document.createElement('b');
    title.textContent = titleFormat.format(start);
    title.setAttribute('aria-live', 'polite');
    header.append(this.turn('previous', '‹', -1), title, this.turn('next', '›', 1));
    return header;
  }

  /** @param {string} name @param {string} sign @param {number} months */
  turn(name, sign, months) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'btn quiet sq s';
    button.textContent = sign;
    button.setAttribute('aria-label', this.texts[name] ?? '');
    button.addEventListener('click', (event) => {
      event.stopPropagation(); // the button is replaced, so the menu would take it for a click outside
      this.month = new Date(this.month.getFullYear(), this.month.getMonth() + months, 1);
      this.draw();
      this.mark(this.from, this.to);
      const again = this.host.querySelector(`[aria-label="${CSS.escape(this.texts[name] ?? '')}"]`);
      if (again instanceof HTMLElement) again.focus();
    });
    return button;
  }

  /** @param {Date} day */
  button(day) {
    const button = document.createElement('button');
    button.type = 'button';
    const two = (/** @type {number} */ n) => String(n).padStart(2, '0');
    button.dataset.day = `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
    button.textContent = String(day.getDate());
    button.setAttribute('aria-label', dayFormat.format(day));
    button.disabled = day > new Date() || getMidnight(day, 1) <= new Date(this.texts.oldest ?? '');
    button.tabIndex = day.getDate() === Math.max(1, this.month.getDate()) ? 0 : -1;
    button.addEventListener('click', () => this.pick(day));
    return button;
  }

  /** @param {Date} day */
  pick(day) {
    const start = this.first && this.first < day ? this.first : day;
    this.first = start === day ? day : null;
    const now = new Date();
    const end = getMidnight(day, 1);
    this.choose(start, end < now ? end : now);
    this.mark(start, end);
  }

  /** Move between days with the arrow keys. @param {KeyboardEvent} event */
  press(event) {
    const button = event.target instanceof HTMLButtonElement ? event.target : null;
    const step = STEPS[/** @type {keyof typeof STEPS} */ (event.key)];
    if (!button?.dataset.day || !step) return;
    event.preventDefault();
    const buttons = this.buttons()
      .map(([each]) => each)
      .filter((each) => !each.disabled);
    const goal = new Date(`${button.dataset.day}T12:00`);
    goal.setDate(goal.getDate() + step);
    const other = buttons.find((each) => each.dataset.day?.endsWith(`-${String(goal.getDate()).padStart(2, '0')}`));
    if (!other || goal.getMonth() !== this.month.getMonth()) return;
    for (const each of buttons) each.tabIndex = each === other ? 0 : -1;
    other.focus();
  }

  /**
   * Mark the days with profiles.
   * @param {Date} start
   * @param {Date} end
   * @param {HTMLElement} legend
   */
  async load(start, end, legend) {
    const [from, to] = [start, end].map((time) => encodeURIComponent(time.toISOString()));
    /** @type {{hours: number[]} | null} */
    const found = await fetch(`${this.texts.calendar}&from=${from}&to=${to}`)
      .then((response) => (response.ok ? response.json() : null))
      .catch(() => null);
    legend.textContent = (found ? this.texts.legend : this.texts.failed) ?? '';
    const days = new Set((found?.hours ?? []).map((hour) => getMidnight(new Date(hour * 1000)).getTime()));
    if (!legend.isConnected) return; // another month is shown
    for (const [button, day] of this.buttons()) {
      if (!days.has(day.getTime())) continue;
      button.classList.add('full');
      button.setAttribute('aria-label', (this.texts.with ?? '').replace('{day}', dayFormat.format(day)));
    }
  }
}
