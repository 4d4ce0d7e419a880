"""A page in a browser: finding, clicking, typing, and the checks for every page."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
ActionChains = webdriver.ActionChains
By = pytest.importorskip("selenium.webdriver.common.by", reason="selenium is not installed").By
Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
WebDriverWait = pytest.importorskip("selenium.webdriver.support.ui").WebDriverWait


def find(page, selector):
    return page.find_element(By.CSS_SELECTOR, selector)


def find_all(page, selector):
    return page.find_elements(By.CSS_SELECTOR, selector)


def texts(page, selector):
    """The texts of all elements as a reader sees them, with plain blanks, in one call."""
    script = (
        "return [...document.querySelectorAll(arguments[0])]"
        ".map(e => e.innerText.trim().replaceAll('\\u00a0', ' '))"
    )
    return page.execute_script(script, selector)


def attributes(page, selector, name):
    """An attribute of all elements, in one call."""
    script = (
        "return [...document.querySelectorAll(arguments[0])].map(e => e.getAttribute(arguments[1]))"
    )
    return page.execute_script(script, selector, name)


PRESS = """
for (const selector of arguments) {
  const element = document.querySelector(selector);
  if (!element?.checkVisibility()) throw new Error(`${selector} is not visible`);
  element.scrollIntoView({block: "center", behavior: "instant"});
  const box = element.getClientRects()[0];
  const x = box.left + box.width / 2, y = box.top + box.height / 2;
  if (!element.contains(document.elementFromPoint(x, y))) throw new Error(`${selector} is covered`);
  element.closest("button, a[href], input, [tabindex]")?.focus();
  element.click();
}
"""


def press(page, *selectors):
    """Click elements in one call; each must be visible, and not covered by another."""
    page.execute_script(PRESS, *selectors)


def active_node(page):
    """The node of the tree that has the focus."""
    return page.execute_script("return document.activeElement.dataset.node")


def visible(page, *selectors):
    """Whether each element is drawn, in one call."""
    script = "return [...arguments].map(s => document.querySelector(s).checkVisibility())"
    return page.execute_script(script, *selectors)


def wait(page):
    """Wait for a condition, even on a busy machine, and look often."""
    return WebDriverWait(page, 60, poll_frequency=0.02)


# Documents are unpacked after the page has been drawn.
READ = """
const root = document.documentElement;
return !root.classList.contains("js") || !document.querySelector("[role=search]")
  || root.dataset.documents !== undefined;
"""


@contextmanager
def opened(driver, address):
    """Open a page; what it writes to the console or requests from elsewhere fails the test."""
    driver.get("about:blank")  # what the page before still wrote or requested is logged by now
    driver.get_log("browser")
    driver.get_log("performance")
    driver.get(address)
    wait(driver).until(lambda page: page.execute_script(READ))
    yield driver
    assert [entry["message"] for entry in driver.get_log("browser")] == []
    assert requested(driver) == {address.partition("#")[0]}


def topic_name(page):
    """The name of the selected node, without its number."""
    return texts(page, "#topic-name [data-named]")[0]


def tree_row(node):
    return f'#tree li[data-node="{node}"] > .row'


def row_of(page, node):
    return find(page, tree_row(node))


def set_slider(page, value):
    page.execute_script(
        "const s = document.getElementById('lambda'); s.value = arguments[0];"
        "s.dispatchEvent(new Event('input', {bubbles: true}));",
        value,
    )


def search_for(page, text):
    """Paste a text into the search and wait for its results, not those of an earlier search."""
    page.execute_script(
        "const query = document.querySelector('#query'); query.focus();"
        "query.value = arguments[0]; query.dispatchEvent(new Event('input', {bubbles: true}));",
        text,
    )
    wait_for_results(page, text)
    return find(page, "#query")


def wait_for_results(page, text):
    found = (
        "const results = document.querySelector('#results'), text = arguments[0].toLowerCase();"
        "return [...results.querySelectorAll('mark, b')]"
        ".some(e => e.textContent.toLowerCase() === text)"
        " || results.textContent.includes('No document')"
    )
    wait(page).until(lambda page: page.execute_script(found, text))


CONTRAST = """
const context = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
const known = new Map();
const rgba = (color) => {
  if (!known.has(color)) {
    context.clearRect(0, 0, 1, 1); context.fillStyle = color; context.fillRect(0, 0, 1, 1);
    known.set(color, [...context.getImageData(0, 0, 1, 1).data].map((v) => v / 255));
  }
  return known.get(color);
};
const light = ([r, g, b]) => [r, g, b]
  .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const ratio = (a, b) => {
  const [x, y] = [light(rgba(a)), light(rgba(b))];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
};
const ground = (element) => {
  for (let e = element; e; e = e.parentElement) {
    const color = getComputedStyle(e).backgroundColor;
    if (rgba(color)[3] === 1) return color;
  }
  return "white";
};
const low = [];
for (const e of document.querySelectorAll("body *")) {
  const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  if (!own || !e.checkVisibility() || e.closest("script, .hidden")) continue;
  const style = getComputedStyle(e);
  const isSvg = e.namespaceURI.endsWith("svg");
  if (isSvg && e.tagName !== "text") continue;
  const rect = isSvg && e.parentElement.querySelector("rect");
  const back = rect ? getComputedStyle(rect).fill : ground(e);
  const value = ratio(isSvg ? style.fill : style.color, back);
  if (value < 4.5) low.push([e.tagName, e.className.toString(), e.textContent.slice(0, 20), value]);
}
return low;
"""


@contextmanager
def emulated(page, **media):
    """A page as printed, or in the dark."""
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    try:
        yield
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def scheme(name):
    return {"features": [{"name": "prefers-color-scheme", "value": name}]}


@contextmanager
def width_of(page, width, height=900):
    """A page on a screen of another width."""
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    try:
        yield
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def overflows(page):
    return page.execute_script("return document.documentElement.scrollWidth > window.innerWidth")


def requested(page):
    """All addresses that a page requested since the log was read last."""
    sent = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    urls = [
        m["params"]["request"]["url"] for m in sent if m["method"] == "Network.requestWillBeSent"
    ]
    # What a page makes itself is not requested from anywhere.
    return {url.partition("#")[0] for url in urls if not url.startswith(("data:", "blob:"))}


@contextmanager
def downloads(page, folder):
    """A function that clicks an element and returns the file that this saves."""

    def saved(selector):
        # A folder for each, because a file of the same name would be replaced.
        place = folder / f"download-{len(list(folder.iterdir()))}"
        place.mkdir()
        behavior = {"behavior": "allow", "downloadPath": str(place)}
        page.execute_cdp_cmd("Browser.setDownloadBehavior", behavior)
        press(page, selector)
        ended = {".csv", ".svg", ".png", ".html"}
        # The browser makes an empty file of that name first and moves the whole one over it.
        (path,) = wait(page).until(
            lambda _: [p for p in place.iterdir() if p.suffix in ended and p.stat().st_size]
        )
        return path

    yield saved
    page.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "default"})
