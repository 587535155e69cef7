// Imported first. The SDK makes a stack trace for every resource and promise, and has each told by the source maps of
// its packages: that took a quarter of the program's time. Our own files run as they are written, and have no maps.
Reflect.deleteProperty(Error, "prepareStackTrace");
