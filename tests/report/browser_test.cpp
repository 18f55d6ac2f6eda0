// The page in a real browser. Skipped, and saying so, where no Chromium is installed.
#include "markup.hpp"
#include "synthetic.hpp"

#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/report/html.hpp>
#include <sextant/report/plots.hpp>

#include <unistd.h>
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdio>
#include <cstdlib>

using namespace sextant;
using Catch::Matchers::ContainsSubstring;

namespace {
std::string find_browser() {
  for (char const* const name : {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"})
    for (char const* const folder : {"/usr/bin/", "/usr/local/bin/", "/snap/bin/"})
      if (::access((std::string(folder) + name).c_str(), X_OK) == 0) return std::string(folder) + name;
  return "";
}

struct Seen {
  std::string dom, log;
};

// Opens a page in a fresh profile without a network and returns the document after scripts ran, and the log.
Seen open_page(std::string const& browser, std::string const& html, char const* size = "1200,900") {
  fs::path const folder = fs::temp_directory_path() / text("sextant-browser-", ::getpid());
  fs::create_directories(folder);
  write_file_atomically(folder / "page.html", html);
  std::string const command =
      text("timeout 120 ", browser, " --headless --no-sandbox --disable-gpu --no-first-run --disable-extensions",
           " --host-resolver-rules='MAP * ~NOTFOUND' --user-data-dir='", (folder / "profile").string(),
           "' --window-size=", size, " --enable-logging=stderr --v=0 --virtual-time-budget=2000 --dump-dom 'file://",
           (folder / "page.html").string(), "' 2>'", (folder / "log").string(), "'");
  Seen out;
  FILE* const pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe);
  std::array<char, 65536> block;
  for (std::size_t got; (got = std::fread(block.data(), 1, block.size(), pipe)) > 0;) out.dom.append(block.data(), got);
  int const status = ::pclose(pipe);
  out.log = read_file(folder / "log");
  fs::remove_all(folder);
  INFO(out.log);
  REQUIRE(status == 0);
  return out;
}

// Lines that the page itself caused: console messages, refused loads, script errors.
std::string complaints(std::string const& log) {
  std::string out;
  std::size_t from = 0;
  while (from < log.size()) {
    std::size_t const end = std::min(log.find('\n', from), log.size());
    std::string const line = log.substr(from, end - from);
    if (line.find("CONSOLE") != std::string::npos) out += line + "\n";
    from = end + 1;
  }
  return out;
}

std::size_t count(std::string const& text, std::string const& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}
}  // namespace

TEST_CASE("a browser shows the page without a complaint, draws the plots and runs the script", "[report][browser]") {
  std::string const browser = find_browser();
  if (browser.empty()) SKIP("no chromium found: apt-get install chromium to run this test");
  std::string page = report::html_report(test::synthetic_study());
  // A probe of ours that runs after the page's script: hovers, presses the theme switch, and reports what it sees.
  std::string const probe = R"js(<script>
    (function () {
      var plot = document.querySelector('.plot'), svg = plot.querySelector('svg.sx-wide'), r = svg.getBoundingClientRect();
      svg.dispatchEvent(new PointerEvent('pointermove', {clientX: r.left + r.width * .3, clientY: r.top + r.height * .4, bubbles: true}));
      var tips = [].filter.call(plot.querySelectorAll('.readout'), function (t) { return !t.hidden; });
      var before = getComputedStyle(document.body).backgroundColor;
      document.getElementById('theme').click();
      var after = getComputedStyle(document.body).backgroundColor;
      plot.querySelector('.sx-wide .sx-label').focus();
      var out = document.createElement('output');
      out.id = 'probe';
      out.textContent = 'tips=' + tips.length + ' rows=' + (tips[0] ? tips[0].querySelectorAll('span').length : 0) +
        ' theme=' + (before !== after) + ' dim=' + plot.classList.contains('dim') +
        ' width=' + (document.documentElement.scrollWidth <= window.innerWidth) + ' drawn=' + (svg.querySelector('.sx-stroke').getTotalLength() > 100);
      document.body.appendChild(out);
    })();
  </script></body>)js";
  auto const end = page.rfind("</body>");
  REQUIRE(end != std::string::npos);
  page.replace(end, 7, probe);
  auto const seen = open_page(browser, page);
  CHECK(complaints(seen.log) == "");
  CHECK(count(seen.dom, "class=\"sx-chart sx-wide\"") == 4);
  auto const at = seen.dom.find("<output id=\"probe\">");
  REQUIRE(at != std::string::npos);
  CHECK_THAT(seen.dom.substr(at, 200), ContainsSubstring("tips=1 rows=9 theme=true dim=true width=true drawn=true"));
}

TEST_CASE("on a narrow screen the plots are the narrow ones and nothing sticks out", "[report][browser]") {
  std::string const browser = find_browser();
  if (browser.empty()) SKIP("no chromium found: apt-get install chromium to run this test");
  std::string page = report::html_report(test::synthetic_study());
  std::string const probe = R"js(<script>
    document.title = getComputedStyle(document.querySelector('.sx-narrow')).display + ' ' +
      getComputedStyle(document.querySelector('.sx-wide')).display + ' ' +
      (document.documentElement.scrollWidth <= window.innerWidth);
  </script></body>)js";
  page.replace(page.rfind("</body>"), 7, probe);
  auto const seen = open_page(browser, page, "500,900");
  CHECK(complaints(seen.log) == "");
  CHECK_THAT(seen.dom, ContainsSubstring("<title>block none true</title>"));
}

TEST_CASE("a browser draws every line of an SVG file", "[report][browser]") {
  std::string const browser = find_browser();
  if (browser.empty()) SKIP("no chromium found: apt-get install chromium to run this test");
  auto const svg = report::plot_svg(test::synthetic_study(), "extrapolation");
  auto const start = svg.find("<svg");
  std::string const page =
      "<!DOCTYPE html><html><body><div id=\"host\">" + svg.substr(start) +
      "</div><script>document.title = 'lines ' + document.querySelectorAll('#host .sx-stroke').length"
      ";</script></body></html>";
  auto const seen = open_page(browser, page);
  CHECK(complaints(seen.log) == "");
  CHECK_THAT(seen.dom, ContainsSubstring("<title>lines 9</title>"));
}
