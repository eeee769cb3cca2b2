// Linked into pyptox-runner of a sanitizer build. The agent traces what a step opens, and LeakSanitizer, which traces
// the process itself at its end, aborts under another tracer: it is off here; AddressSanitizer's other checks stay on.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
