/* A kernel that refuses whatever it is given (PYPTOX_REFUSED_ARGUMENT). */
int refuse(const void* launch) { return launch ? 1 : 0; }
