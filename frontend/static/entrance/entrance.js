/** The flame graph beside the forms of signing in and up. */

import { FlameGraph } from '../flame-graph/graph/element.js';

customElements.define('flame-graph', FlameGraph);
