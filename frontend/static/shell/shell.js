// Behaviours of every page, one module each.
import { watchCommands } from './commands.js';
import { watchControls } from './controls.js';
import { watchCopyButtons } from './copy.js';
import { watchDialogs } from './dialogs.js';
import { watchMenus } from './menus.js';
import { showCurrentPage, watchCarried } from './nav.js';
import { watchFiles } from './open_file.js';
import { watchRecent } from './recent.js';
import { watchSaving } from './saving.js';
import { watchSkipLinks } from './skip.js';
import { watchTimes } from './times.js';
import { fadeToasts } from './toasts.js';
import { watchTrouble } from './trouble.js';

watchSkipLinks(document);
watchCopyButtons(document);
watchDialogs(document);
watchMenus(document);
showCurrentPage(document);
watchCarried(document);
watchControls(document);
watchTimes(document);
fadeToasts(document);
watchTrouble(document);
watchSaving(document);
watchRecent(document);
watchCommands(document);
watchFiles(document);
