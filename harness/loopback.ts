/** True for hosts of this machine, as `URL` writes them: `127.0.0.1`, `[::1]`, `api.localhost`. */
export function isLoopback(hostname: string): boolean {
  return /^(127(\.\d+){3}|(.+\.)?localhost\.?|\[::1\])$/.test(hostname)
}
