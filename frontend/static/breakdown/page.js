/** Breakdown page: chart, filters, choice of two values to compare, and keyboard shortcuts. */

import './chart.js';
import { watchChartPage } from '../charts/chart_page.js';
import { watchPicks } from './picks.js';

watchChartPage(document);
watchPicks(document);
