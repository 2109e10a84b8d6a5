/** How a page is found: by every word that means something, by its beginning, with a slip. The functions go to browsers as text. */
export const searchOptions = {
  miniSearch: {
    options: {
      // Words that questions have and answers do not.
      processTerm: (term) =>
        /^(an?|and|are|as|at|be|by|can|does?|for|from|have|how|if|in|into|is|its?|me|my|of|on|or|so|that|the|them?|there|they|this|to|was|we|what|when|where|which|who|why|will|with|you|your|i)$/i.test(
          term,
        )
          ? null
          : term.toLowerCase(),
    },
    searchOptions: {
      boost: { title: 4, titles: 2, text: 1 },
      fuzzy: 0.2,
      prefix: true,
      combineWith: 'AND',
      // Answers stand before what they are about, and the history of the project behind all.
      boostDocument: (id) =>
        /docs\/(questions|command-line)/.test(id)
          ? 3
          : /requirements\/|CHANGELOG|performance|mutation/.test(id)
            ? 0.4
            : 1,
    },
  },
}

/** What of a page is looked through: of a requirement its id and its statement, of all others everything. */
export function toIndex(source, env, md) {
  const html = md.render(source, env)
  return env.frontmatter?.kind === 'requirement' ? html.slice(0, html.indexOf('<h2')) : html
}
