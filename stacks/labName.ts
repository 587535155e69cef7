/** What a lab may be called: it becomes the name of a folder, and of a socket, whose path may not be long. */
export const labName = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** The same in words. */
export const labNameForm = "1 to 32 of a-z, 0-9 and -, beginning with none of -";

/** Whom a lab sees everything come from that runs in it. */
export const labOperator = "192.0.2.100/32";
