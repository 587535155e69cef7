/**
 * The URL of Image Factory to generate schematics. If not set defaults to https://factory.talos.dev.
 */
export declare const imageFactoryUrl: string | undefined;
