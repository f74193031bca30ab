/** History page: charts, filters and keyboard shortcuts. */

import './history_chart.js';
import { watchChartPage } from './chart_page.js';

watchChartPage(document);
