import type { Report } from '../../harness/report/model.ts'

/** Why the exit code is what it is: `exit 1: 2 musts failed`. */
export function exitLine({ exit }: Report): string {
  return `exit ${exit.code}: ${exit.because}`
}
