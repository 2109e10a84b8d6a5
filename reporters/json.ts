import type { Report } from '../spec/report.ts'

/** Not escaped by JSON itself, but able to disguise the text of a target where the file is shown on a terminal. */
const disguising = /[\u007f-\u009f\p{Zl}\p{Zp}\p{Bidi_Control}\p{Noncharacter_Code_Point}\u{feff}\u{e0000}-\u{e007f}]/gu

/** The report as it is, `conformance-report/1`, indented by two; whoever parses it reads back the same value. */
export function renderJson(report: Report): string {
  return `${JSON.stringify(report, null, 2).replace(disguising, escaped)}\n`
}

function escaped(character: string): string {
  let units = ''
  for (let at = 0; at < character.length; at++) units += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`
  return units
}
