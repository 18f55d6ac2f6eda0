// All studies of a project on one page: the verdict of every claim, by what it was taken from, and a card a study.
#pragma once
#include <sextant/report/study.hpp>

#include <map>
#include <string>
#include <vector>

namespace sextant::report {

/// A study of the gallery.
struct Exhibit {
  StudyView study;
  std::string folder;  ///< that its spec and study file are in, as links from the gallery find it; "" for none
};

/// The files of a gallery by name: index.html, README.md, and of each study NAME.html, its page, and NAME.svg, its first plot.
/// Equal studies give equal bytes. Throws Error when two studies have one name.
std::map<std::string, std::string> gallery(std::vector<Exhibit> const& exhibits);

}  // namespace sextant::report
