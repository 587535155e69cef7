// Imported first. The SDK creates a stack trace for every resource and promise, and translates each with the source maps of its packages, which took a
// quarter of the run time. Our own files run unchanged and have no source maps.
Reflect.deleteProperty(Error, "prepareStackTrace");
