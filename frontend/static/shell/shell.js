// Behaviours of every page, one module each.
import { watchControls } from './controls.js';
import { watchCopyButtons } from './copy.js';
import { watchDialogs } from './dialogs.js';
import { watchMenus } from './menus.js';
import { showCurrentPage, watchCarried } from './nav.js';
import { watchPalette } from '../palette/palette.js';
import { watchRecent } from './recent.js';
import { watchSaving } from './saving.js';
import { watchTimes } from './times.js';
import { fadeToasts } from './toasts.js';
import { watchTrouble } from './trouble.js';
import { watchDrops, watchUploads } from './upload.js';

watchCopyButtons(document);
watchDialogs(document);
watchMenus(document);
showCurrentPage(document);
watchCarried(document);
watchControls(document);
watchTimes(document);
fadeToasts(document);
watchTrouble(document);
watchUploads(document);
watchDrops(document);
watchSaving(document);
watchRecent(document);
watchPalette(document);
