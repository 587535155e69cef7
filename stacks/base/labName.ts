/** Names of labs. They become names of folders, and of sockets, whose paths are limited in length. */
export const labName = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** The same as text, for messages. */
export const labNameForm = "1 to 32 of a-z, 0-9 and -, not beginning with -";

/** The address from which commands inside a lab connect. */
export const labOperator = "192.0.2.100/32";
