import { visibleLines } from './visible.ts'

/** The message of a workflow command of GitHub Actions; percent sign and line ends as it wants them. */
export function commandData(text: string): string {
  return visibleLines(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

/** The value of a property of such a command, which a colon or a comma would end. */
export function commandProperty(text: string): string {
  return commandData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
