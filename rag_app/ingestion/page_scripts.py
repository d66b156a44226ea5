"""The scripts that run inside a rendered page: count its text, scroll it, write it down."""

# Returns the number of signs a person could see by now.
COUNT_TEXT = "() => document.body ? document.body.innerText.length : 0"

# Tells whether anything may still change by itself.
HAS_SCRIPTS = "() => document.scripts.length > 0"

# Scrolls once to the end, so that what loads or fades in on scrolling does, and back.
SCROLL = """
async () => {
  for (const details of document.querySelectorAll('details')) details.open = true;
  const pause = () => new Promise(done => setTimeout(done, 50));
  for (let step = 0, y = 0; step < 30 && y < document.documentElement.scrollHeight; step++) {
    window.scrollTo(0, y);
    y += 1200;
    await pause();
  }
  window.scrollTo(0, 0);
}
"""

# Returns the page's address, and the page as HTML without hidden nodes, with open shadow roots
# and frames of the same origin written in place.
SERIALISE = """
() => {
  const unseen = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'LINK', 'SVG', 'CANVAS']);
  let left = 200000;
  const hidden = (element, view) => {
    if (element.hidden) return true;
    const style = view.getComputedStyle(element);
    if (style.display === 'none') return true;
    if (style.display === 'contents') return false;
    if (style.opacity === '0' || style.fontSize === '0px') return true;
    if (style.visibility !== 'visible') return !element.childElementCount;
    const clipped = style.overflow !== 'visible' || style.clip !== 'auto' ||
      style.clipPath !== 'none';
    const box = element.getBoundingClientRect();
    if (clipped && box.width <= 1 && box.height <= 1 && element.textContent) return true;
    return style.position !== 'static' && box.width > 0 &&
      (box.right + view.scrollX <= 0 || box.bottom + view.scrollY <= 0);
  };
  const copy = (node, target, doc, visible) => {
    if (--left < 0) return;
    if (node.nodeType === Node.TEXT_NODE) {
      if (visible) target.append(document.createTextNode(node.data));
      return;
    }
    if (node.nodeType !== Node.ELEMENT_NODE || unseen.has(node.tagName.toUpperCase())) return;
    const view = doc.defaultView;
    if (!view || hidden(node, view)) return;
    const shown = view.getComputedStyle(node).visibility === 'visible';
    let children = node.childNodes;
    let name = node.tagName.toLowerCase();
    let inner = doc;
    if (node.tagName === 'IFRAME') {
      try { inner = node.contentDocument; } catch (refused) { inner = null; }
      if (!inner || !inner.body) return;
      name = 'div';
      children = inner.body.childNodes;
    } else if (node.tagName === 'SLOT') {
      const assigned = node.assignedNodes({flatten: true});
      children = assigned.length ? assigned : children;
      name = 'span';
    } else if (node.shadowRoot) {
      children = node.shadowRoot.childNodes;
    }
    if (name.includes('-') || !/^[a-z][a-z0-9]*$/.test(name)) name = 'div';
    const made = document.createElement(name);
    for (const kept of ['id', 'class', 'role', 'href', 'lang', 'dir', 'type', 'itemprop',
                        'colspan', 'rowspan', 'datetime']) {
      const value = node.getAttribute(kept);
      if (value !== null) made.setAttribute(kept, value);
    }
    for (const child of children) copy(child, made, inner, shown);
    target.append(made);
  };
  const page = document.implementation.createHTMLDocument(document.title);
  page.documentElement.lang = document.documentElement.lang;
  for (const node of document.querySelectorAll('head meta'))
    page.head.append(page.importNode(node, false));
  if (document.body) {
    const rest = document.createElement('div');
    for (const child of document.body.childNodes) copy(child, rest, document, true);
    page.body.innerHTML = rest.innerHTML;
  }
  return [location.href, '<!DOCTYPE html>' + page.documentElement.outerHTML];
}
"""
