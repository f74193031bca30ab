export type ProfileType = 'CPU' | 'WALL' | 'HEAP' | 'HEAP_ALLOC';

/** Settings of the agent. One that is missing takes its value from the environment. */
export interface Settings {
    /** FLAMEWATCH_SERVICE, K_SERVICE, GAE_SERVICE or OTEL_SERVICE_NAME */
    service?: string;
    /** FLAMEWATCH_VERSION, K_REVISION or GAE_VERSION */
    version?: string;
    /** FLAMEWATCH_ZONE */
    zone?: string;
    /** FLAMEWATCH_URL: address of the server */
    url?: string;
    /** FLAMEWATCH_KEY: API key with the scope write */
    key?: string;
    /** FLAMEWATCH_PROJECT; optional: the key determines the project */
    project?: string;
    /** Types to offer; default: CPU, WALL and HEAP. HEAP and HEAP_ALLOC exclude each other. */
    types?: ProfileType[];
    /** Receives the lines of the agent's log; default: console.warn */
    log?: (line: string) => void;
}

/**
 * Start the agent of this process and return at once. Never throws: an invalid setting is logged,
 * and the program runs without profiling. Does nothing if the agent is running already.
 */
export function start(settings?: Settings): void;

/** End profiling; a capture in progress is dropped. */
export function stop(): Promise<void>;
