import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Compiles what is tested from outside, the command line and the package, from the sources as they are now. */
export default function build(): void {
  execFileSync(process.execPath, [fileURLToPath(new URL('../scripts/build.js', import.meta.url))], {
    stdio: 'inherit',
  })
}
