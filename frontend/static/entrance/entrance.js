/** The flame graph beside the forms of signing in and up. */

import '../flame-graph/element.js';
