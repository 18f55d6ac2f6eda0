// The verdicts of a study's claims: as a table, as full numbers, and as the first section of the page.
#pragma once
#include <sextant/claims/judge.hpp>
#include <sextant/claims/planning.hpp>
#include <sextant/report/html_page.hpp>
#include <sextant/report/table.hpp>

namespace sextant::report {

/// One row a claim: verdict, effect, interval, p after Holm's correction, seeds and windows. What each claim says, and
/// why it has no verdict, stands in the notes.
Table claims_table(claims::Judgement const& judgement);

/// One line a claim with every number in full.
std::string claims_csv(claims::Judgement const& judgement);
/// The same as one JSON object; what does not exist is null.
std::string claims_json(claims::Judgement const& judgement);

std::string render(claims::Judgement const& judgement, Format format, TerminalLook const& look = {});

/// How many seeds each claim needs, from the scatter that another study shows.
Table seeds_table(std::vector<claims::SeedPlan> const& plans);
/// The same as a JSON list.
std::string seeds_json(std::vector<claims::SeedPlan> const& plans);

/// "of 5, 3 hold, 1 fails, 1 is out of reach"
std::string verdict_count(claims::Judgement const& judgement);

/// <li>: a claim, its verdict in a word and a sign, its interval against its bound; `link` leads to its study, by name.
void claim_item(Xml& out, claims::Outcome const& outcome, std::string const& id, std::string const& link = "",
                std::string const& study = "");

/// The effect with sign and units, as the board prints it.
std::string effect_text(claims::Outcome const& outcome);
std::string interval_text(claims::Outcome const& outcome);
/// How many seeds were paired, and windows of text: "3 × 64"; where the model is given, "8 documents".
std::string sample_text(claims::Outcome const& outcome);

/// What n counts, and what verdicts are about.
std::string about_sample(claims::Sample sample);

/// The board: a claim a row, its verdict in a word and a sign, its interval against its bound. Nothing without claims.
void claims_section(Page& page);

}  // namespace sextant::report
