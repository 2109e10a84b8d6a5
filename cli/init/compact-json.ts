/** JSON as people write it: what fits on a line of that width is on one line, everything else is indented by two. */
export function compactJson(value: unknown, width: number, indent = ''): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const members = Object.entries(value).map(([name, member]) => (of: (member: unknown) => string) => {
    return Array.isArray(value) ? of(member) : `${JSON.stringify(name)}: ${of(member)}`
  })
  const line = `${open}${members.map((member) => member((inner) => compactJson(inner, Infinity))).join(', ')}${close}`
  if (indent.length + line.length <= width) return line
  const deeper = `${indent}  `
  const lines = members.map((member) => `${deeper}${member((inner) => compactJson(inner, width, deeper))}`)
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`
}
