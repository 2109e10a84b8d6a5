/** The formats that `--report` can ask for, and the file that each is written to if no path is given. */
export const formatFiles = {
  json: 'conform-report.json',
  html: 'conform-report.html',
  junit: 'conform-report.xml',
  ctrf: 'conform-report.ctrf.json',
  markdown: 'conform-report.md',
  har: 'conform-report.har',
  badge: 'conform-report.svg',
} as const

export type FormatName = keyof typeof formatFiles
