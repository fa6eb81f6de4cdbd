"""The command line: one small file a verb, which parses, calls one function of the library and prints."""
