// Text in HTML and SVG.

/** Escapes a text, so that it is shown and never interpreted. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
