const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ', '#39': "'" }

/** What a reader sees of an HTML page; undefined if the body is not a page. */
export function pageText(contentType: string | undefined, body: string): string | undefined {
  const isPage = /\bhtml\b/i.test(contentType ?? '') || /^\s*<(?:!doctype html|html)\b/i.test(body)
  if (!isPage) return undefined
  const visible = body.replaceAll(/<!--[\s\S]*?(?:-->|$)|<(script|style|head)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, titleOf)
  return visible
    .replaceAll(/<[^>]*(?:>|$)/g, ' ')
    .replaceAll(/&(#39|\w+);/g, (whole, name: string) => entities[name] ?? whole)
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** Of a head its title is seen. */
function titleOf(part: string): string {
  return ` ${/<title[^>]*>([\s\S]*?)<\/title/i.exec(part)?.[1] ?? ''} `
}
