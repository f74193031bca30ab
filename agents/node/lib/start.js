'use strict';

// Starts the agent with the settings of the environment: `node --require flamewatch-agent/start`.
require('./index').start();
