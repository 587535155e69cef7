/** An environment's file cannot be read. The message has one line for each fault, with file, line and column, and no text of the file's values. */
export class SettingsFileError extends Error {
  override readonly name = "SettingsFileError";
  /** Marks a user error, as in `ConfigError`. */
  readonly __pulumiRunError = true;
}
