/** Sections as a reader writes them: `4.2, 8` is `§4.2, §8`. */
export function sections(section: string): string {
  return section
    .split(',')
    .map((part) => `§${part.trim()}`)
    .join(', ')
}
