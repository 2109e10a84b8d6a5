/** Makes a link of a text, if whoever shows it knows links; else the text as it is. */
export type Link = (text: string, address: string) => string

export const noLink: Link = (text) => text

/** The link of a terminal (OSC 8). The address holds no control characters: it is a URL that was parsed. */
export const terminalLink: Link = (text, address) =>
  `\u001b]8;;${new URL(address).href}\u0007${text}\u001b]8;;\u0007`
