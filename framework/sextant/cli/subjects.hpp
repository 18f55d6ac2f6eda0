// Trained models and the documents they read, as `extend` and `search` take them from the command line; and what both leave.
#pragma once
#include <sextant/cli/command.hpp>
#include <sextant/extend/extend.hpp>
#include <sextant/pretrained/source.hpp>
#include <sextant/report/table.hpp>
#include <sextant/tasks/token_documents.hpp>
#include <sextant/tokens/tokenizer.hpp>

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <memory>

namespace sextant::cli {

/// What a command reads.
struct Texts {
  std::vector<std::string> files;  ///< a document each
  std::string corpus;              ///< its documents that are long enough,
  int documents = 8;               ///< at most so many
};
/// Adds --text and --corpus, which it returns.
CLI::Option* takes_texts(CLI::App* command, Texts& texts);

using SharedTokenizer = std::shared_ptr<tokens::Tokenizer const>;

/// Throws Error with the reason where the model has none.
SharedTokenizer tokenizer_of(pretrained::Source const& source, std::string const& command);

/// A model's weights in float32, under the position block that it was published with.
extend::Subject subject_of(pretrained::Source const& source, SharedTokenizer const& tokenizer,
                           encoding::Registry const& registry);

/// What a document of a corpus is known by.
std::string identity_in(tasks::Corpus const& corpus, std::string const& document);

/// A document of a corpus as the subject reads it: behind its bos, where it has one.
extend::Document document_of(extend::Subject const& subject, tasks::Corpus const& corpus,
                             tasks::TokenDocument document);

/// Each file, then documents of the corpus of more than `longest` tokens; none begins without the model's bos. Throws Error
/// beginning with `command` when there is nothing to read.
std::vector<extend::Document> documents_of(Texts const& texts, extend::Subject const& subject,
                                           tokens::Tokenizer const& tokenizer, int longest, std::string const& command);

/// A study of one subject under several arms, as what is done now makes it; not written yet.
struct Publication {
  std::string name, title, question;
  std::string text;  ///< what a reader needs to repeat it
  std::string started;
};
results::Group file_of(Publication const& about, extend::Work const& work, std::vector<extend::Stage> const& stages,
                       results::Store const& store, Context const& context);

/// Where a study of that name lies unless -o says otherwise: below results/, whatever characters a model's name has.
fs::path default_folder(std::string const& name);

/// Throws Error where the folder holds a study that is not called `subject`, or that and more: this one would replace it.
void expect_free(results::Store const& store, std::string const& subject);

/// Whether `work` came to its end; after a signal says so and sets the exit status. Other errors pass through.
bool to_the_end(Context& context, std::function<void()> const& work);

/// Writes study.h5 and report.html into the store's folder, prints the tables (as JSON with --json) and both paths. An earlier study
/// file that shows what this one does not is kept under another name.
void publish(results::Group const& file, std::vector<report::Table> const& tables, results::Store const& store,
             Context const& context);

/// Documents by name and hash.
nlohmann::json names_of(std::vector<extend::Document> const& documents);

/// Documents by name and hash, lengths and the subject: what every such study says of itself.
nlohmann::json facts_of(extend::Work const& work);

}  // namespace sextant::cli
