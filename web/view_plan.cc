#include <algorithm>
#include <cmath>

#include "engine/advice/question.h"
#include "engine/report/answer.h"
#include "web/platform.h"
#include "web/views.h"
#include "web/widgets.h"

namespace vram {
namespace {

using namespace kit;

constexpr size_t kRows = 12;
constexpr float kFiguresLine = 18;  // where columns find no room

struct Ask {
  const char* label;
  const char* word;
};
constexpr Ask kOfTraining[] = {{"What fits", "fit"},
                               {"Fewest GPUs", "fewest-gpus"},
                               {"Longest sequence", "longest-seq"},
                               {"Largest batch", "largest-batch"},
                               {"Fastest", "fastest"},
                               {"Cheapest", "cheapest"}};
constexpr Ask kOfServing[] = {{"Fewest GPUs", "replicas"},
                              {"Most requests", "concurrency"},
                              {"Longest prompt", "context"},
                              {"Fastest", "serve-fastest"},
                              {"Cheapest", "serve-cheapest"}};

/// The plan's question as the buttons name it: of a server's plan `fastest` is serve-fastest.
std::string question_word(const Plan& plan) {
  const bool both = plan.question == Question::fastest || plan.question == Question::cheapest;
  return (both && asks_about_serving(plan) ? "serve-" : "") + value_text(plan, Key::question);
}

/// The questions of one side, one of them chosen.
template <size_t n>
float questions(App& app, bool of_server, const Ask (&list)[n], float x, float y, float width) {
  const std::string chosen = question_word(app.plan());
  const float height = px(30), label = px(72);
  const bool chosen_side = shows_serving(app) == of_server;
  heading(x, y + height / 2, of_server ? "Serve" : "Train");
  float at = x + label;
  for (const Ask& one : list) {
    const float w = text_width(kText, one.label) + px(22);
    if (at > x + label && at + w > x + width) at = x + label, y += height + px(6);
    const Box box{at, y, w, height};
    const Touch touch = area("ask." + std::string(one.word), box);
    const bool on = chosen_side && chosen == one.word;
    frame(box, on ? theme().accent : theme().box, on ? theme().accent : theme().rule);
    text_centred(kText,
                 on              ? theme().on_accent
                 : touch.hovered ? theme().ink
                                 : theme().muted,
                 at + w / 2, y + height / 2, one.label);
    if (touch.pressed) edit(app, Key::question, one.word);
    at += w + px(6);
  }
  return y + height;
}

/// "Fastest: 205 days on ...": the word that carries it, and the rest of the first sentence.
Headline headline_of(const Plan& plan, const Answer& answer) {
  const std::string all = answer_sentence(plan, answer);
  const std::string first = all.substr(0, all.find(". "));
  const size_t colon = first.find(": ");
  Headline headline;
  headline.color = row_count(answer) > 0 ? theme().good : theme().bad;
  if (colon == std::string::npos) {
    headline.word = first + ".";
  } else {
    headline.word = first.substr(0, colon) + ". ";
    headline.rest = first.substr(colon + 2);
    headline.rest[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(headline.rest[0])));
  }
  const size_t end = all.find(". ");
  if (end != std::string::npos) headline.margin = all.substr(end + 2);
  if (row_count(answer) > 0) headline.margin += " Press one to make it the plan.";
  return headline;
}

/// How far the search is, with a way to stop it; at rest how much was tried.
float progress_row(App& app, const std::string& at_rest, float x, float y, float width) {
  const float height = px(30), middle = y + height / 2 - px(2);
  Search& search = app.layouts;
  if (search.running) {
    const double share = search.running->progress();
    const Box stop{x + width - px(64), y, px(64), px(24)};
    text(kText, theme().muted, x, middle,
         "Trying layouts: " + show_grouped(static_cast<double>(search.running->tried())));
    rule(x, y + height - px(2), width, theme().rule, 2);
    rule(x, y + height - px(2), width * static_cast<float>(std::min(1.0, share)), theme().accent, 2);
    if (button("search.stop", stop, "Stop", false)) stop_search(app);
    return height;
  }
  const bool again = search.stopped;
  const float words = paragraph(kText, theme().muted, x, y + px(3), width - (again ? px(120) : 0),
                                again ? "Stopped. " + at_rest : at_rest);
  if (again && button("search.again", {x + width - px(112), y, px(112), px(24)}, "Search again", true))
    search_again(app);
  return std::max(height, words + px(8));
}

/// Where there is no row: a way to what comes nearest.
float nearest_row(App& app, const Answer& answer, float x, float y) {
  const std::optional<std::string> share = nearest_share(answer);
  if (!share) return 0;
  const Box box{x, y, text_width(kText, "Take the nearest") + px(24), px(28)};
  if (button("row.nearest", box, "Take the nearest", true)) apply_row(app, *share);
  return box.h;
}

/// A sentence whose figure can be made the plan's.
float limit_rows(App& app, const Answer& answer, float x, float y, float width) {
  const float top = y;
  for (const Limit& limit : answer.limits) {
    const std::string change = limit.change;
    const bool link = !change.empty();
    dot(x + px(3), y + px(10), 2.5f, link ? theme().accent : theme().muted);
    int pressed = -1;
    y += runs(x + px(12), y, width - px(12), px(20),
              {{kSmall, theme().muted, limit.text + " ", ""},
               {kSmall, theme().accent, link ? "Apply" : "", std::string("limit.") + limit.id}},
              &pressed);
    if (pressed == 1 && link) {
      apply_change(app, change);
      return y - top;
    }
  }
  return y - top;
}

struct Columns {
  std::vector<float> left, right;
  size_t words = 0;  // the column that takes what is left: layout or deployment
};

size_t words_column(const TextTable& table) {
  const auto found = std::find_if(table.heading.begin(), table.heading.end(),
                                  [](const std::string& name) { return name == "layout" || name == "deployment"; });
  return static_cast<size_t>(found - table.heading.begin());
}

float natural_width(const TextTable& table, size_t column) {
  float width = text_width(kTiny, table.heading[column]);
  for (const auto& row : table.rows) width = std::max(width, text_width(kFigures, row[column]));
  return width + px(1);  // at fractions of a pixel what just fits would be cut
}

Columns columns_of(const TextTable& table, float x, float width) {
  Columns columns;
  columns.words = words_column(table);
  const float gap = px(18);
  float fixed = px(8);
  std::vector<float> widths;
  for (size_t i = 0; i < table.heading.size(); ++i) {
    widths.push_back(i == 0 ? px(20) : natural_width(table, i));
    if (i != columns.words) fixed += widths[i] + gap;
  }
  widths[columns.words] = std::max(px(80), width - fixed);
  float at = x + px(4);
  for (const float w : widths) {
    columns.left.push_back(at);
    columns.right.push_back(at + w);
    at += w + gap;
  }
  return columns;
}

bool fits_in(const TextTable& table, float width) {
  float wanted = px(28);
  for (size_t i = 1; i < table.heading.size(); ++i) wanted += natural_width(table, i) + px(18);
  return wanted <= width;
}

void table_cells(const TextTable& table, const Columns& columns, const std::vector<std::string>& cells, bool head,
                 float middle) {
  for (size_t i = 0; i < cells.size(); ++i) {
    const bool words = i == columns.words;
    const Type type = head ? kTiny : i == 0 ? kSmallFigures : words ? kText : kFigures;
    const ImU32 color = head || i == 0 ? theme().muted : theme().ink;
    if (table.alignment[i] == 'r' && i > 0)
      text_right(type, color, columns.right[i], middle, cells[i]);
    else
      text(type, color, columns.left[i], middle, fitted(type, cells[i], columns.right[i] - columns.left[i]));
  }
}

/// A row's figures with their names, in as many lines as the width asks for.
std::vector<std::string> figure_lines(const TextTable& table, const std::vector<std::string>& cells, float width) {
  std::vector<std::string> lines = {""};
  for (size_t i = 1; i < cells.size(); ++i) {
    if (i == words_column(table) || cells[i].empty() || table.heading[i] == "MFU") continue;
    const std::string figure = cells[i] + " " + table.heading[i];
    const std::string longer = lines.back() + (lines.back().empty() ? "" : " · ") + figure;
    if (lines.back().empty() || text_width(kSmall, longer) <= width)
      lines.back() = longer;
    else
      lines.push_back(figure);
  }
  return lines;
}

/// Where columns find no room: what it is above, its figures below.
void stacked_cells(const TextTable& table, const std::vector<std::string>& cells, const std::vector<std::string>& lines,
                   const Box& box) {
  text(kSmallFigures, theme().muted, box.x + px(4), box.y + px(15), cells[0]);
  const float room = box.w - px(32);
  text(kText, theme().ink, box.x + px(28), box.y + px(15), fitted(kText, cells[words_column(table)], room));
  float middle = box.y + px(33);
  for (const std::string& line : lines) {
    text(kSmall, theme().muted, box.x + px(28), middle, fitted(kSmall, line, room));
    middle += px(kFiguresLine);
  }
}

/// The room that the longest words leave to bars, which are to be compared: of one width, or none.
float bar_width(const TextTable& table, const Columns& columns) {
  const float room = columns.right[columns.words] - columns.left[columns.words];
  const float width = std::min(px(220), room - natural_width(table, columns.words) - px(24));
  return width < px(48) ? 0 : width;
}

/// A layout's memory against its GPU's.
void memory_bar(float end, float width, const LayoutRow& row, float middle) {
  const double capacity = row.plan.gpu_mem * (1 - row.plan.margin);
  const double share = capacity > 0 ? static_cast<double>(row.device_bytes) / capacity : 0;
  const Box track{end - width, middle - px(3), width, px(6)};
  fill(track, mix(theme().background, theme().muted, 0.16f), px(3));
  const float filled = width * static_cast<float>(std::min(1.0, share));
  fill({track.x, track.y, filled, track.h}, mix(theme().background, theme().accent, 0.55f), px(3));
}

/// The plan without what is asked and what rows leave out: is it that row?
std::string own_share(const Plan& plan) {
  Plan own = kinds_among(plan).front();
  for (const Key key : {Key::mfu, Key::measured_tokens_per_second}) clear_value(own, key);
  if (own.gpu != plan.gpu) set_value(own, Key::gpu, plan.gpu, nullptr);
  return write_plan(own, false);
}

/// Rows of an answer, each a plan to take.
struct RowList {
  const char* name;  // of its areas
  TextTable table;
  std::vector<std::string> shares;
  const std::vector<LayoutRow>* layouts;  // null: deployments
};

RowList best_rows(const Plan& plan, const Answer& answer) {
  RowList list{"row", row_table(plan, answer, kRows), {}, answer.serving ? nullptr : &answer.layouts};
  for (size_t i = 0; i < list.table.rows.size(); ++i) list.shares.push_back(row_share(answer, i));
  return list;
}

RowList rows_by_gpu(const Plan& plan, const Answer& answer) {
  RowList list{"gpu_row", gpu_table(plan, answer), {}, answer.serving ? nullptr : &answer.layouts_by_gpu};
  for (size_t i = 0; i < list.table.rows.size(); ++i) list.shares.push_back(gpu_row_share(answer, i));
  return list;
}

float rows_view(App& app, const RowList& list, float x, float y, float width) {
  const TextTable& table = list.table;
  if (table.rows.empty()) return 0;
  const float top = y;
  const bool wide = fits_in(table, width);
  const Columns columns = columns_of(table, x, width);
  const float bars = list.layouts ? bar_width(table, columns) : 0;
  const std::string own = own_share(app.plan());
  if (wide) {
    table_cells(table, columns, table.heading, true, y + px(9));
    y += px(20);
  }
  rule(x, y, width, theme().rule);
  for (size_t i = 0; i < table.rows.size(); ++i) {
    const std::string& share = list.shares[i];
    const std::vector<std::string> lines = figure_lines(table, table.rows[i], width - px(32));
    const Box box{x, y, width, px(wide ? 29 : 28 + kFiguresLine * static_cast<float>(lines.size()))};
    const Touch touch = area(list.name + ("." + std::to_string(i + 1)), box);
    const bool here = share == own;
    if (here || touch.hovered)
      fill(box, here ? mix(theme().background, theme().accent, 0.12f) : mix(theme().background, theme().muted, 0.08f),
           px(4));
    if (wide) {
      table_cells(table, columns, table.rows[i], false, y + box.h / 2);
      if (bars > 0) memory_bar(columns.right[columns.words], bars, (*list.layouts)[i], y + box.h / 2);
    } else {
      stacked_cells(table, table.rows[i], lines, box);
    }
    tooltip(touch, here ? "This is the plan" : "Make it the plan", share);
    y += box.h;
    rule(x, y - hairline(), width, theme().rule);
    if (touch.pressed) {
      apply_row(app, share);
      break;
    }
  }
  return y - top;
}

/// What stands out of all kinds.
float best_view(App& app, const Answer& answer, float x, float y, float width) {
  const float top = y;
  if (!answer.layouts_by_gpu.empty() || !answer.deployments_by_gpu.empty()) {
    text(kStrong, theme().ink, x, y + px(10), "What stands out of all");
    y += px(26);
  }
  y += rows_view(app, best_rows(app.plan(), answer), x, y, width);
  if (row_count(answer) <= kRows) return y - top;
  const auto more = static_cast<double>(row_count(answer) - kRows);
  text(kSmall, theme().muted, x + px(28), y + px(14), show_grouped(more) + " more stand out");
  return y + px(24) - top;
}

/// Where the question is put to several kinds of GPU: what each can do, and which cannot.
float gpus_view(App& app, const Answer& answer, float x, float y, float width) {
  const RowList list = rows_by_gpu(app.plan(), answer);
  const std::string without = gpus_without_sentence(answer);
  if (list.table.rows.empty() && without.empty()) return 0;
  const float top = y;
  text(kStrong, theme().ink, x, y + px(10), "Each accelerator at its best");
  y += px(26);
  y += rows_view(app, list, x, y, width);
  if (!without.empty()) y += px(6) + paragraph(kSmall, theme().muted, x, y + px(6), width, without);
  return y + px(24) - top;
}

ImU32 verdict_color(const std::string& word) {
  if (word == "fits") return theme().good;
  return word == "tight" ? theme().warn : theme().bad;
}

float switches_view(App& app, const Answer& answer, float x, float y, float width) {
  const TextTable table = switch_table(app.plan(), answer);
  if (table.rows.empty()) return 0;
  const float top = y;
  text(kStrong, theme().ink, x, y + px(10), "What each switch is worth");
  y += px(26);
  const auto column = [&](std::string_view name) {
    return static_cast<size_t>(std::find(table.heading.begin(), table.heading.end(), name) - table.heading.begin());
  };
  const size_t time = column("time"), then = column("then"), requests = column("requests");
  const float right = x + width, time_right = right,
              requests_right = time < table.heading.size() ? time_right - px(64) : right,
              saves_right = requests < table.heading.size() ? requests_right - px(72) : requests_right;
  text_right(kTiny, theme().muted, saves_right, y + px(8), table.heading[1]);
  if (time < table.heading.size()) text_right(kTiny, theme().muted, time_right, y + px(8), "time");
  if (requests < table.heading.size()) text_right(kTiny, theme().muted, requests_right, y + px(8), "requests");
  y += px(20);
  rule(x, y, width, theme().rule);
  for (size_t i = 0; i < table.rows.size(); ++i) {
    const auto& cells = table.rows[i];
    const Switch& one = answer.switches[i];
    const std::string change = fragment(one.change);
    const Box box{x, y, width, px(27)};
    const float middle = y + box.h / 2;
    const Touch touch = area(std::string("switch.") + one.change.id, box);
    if (touch.hovered) fill(box, mix(theme().background, theme().muted, 0.08f), px(4));
    dot(x + px(5), middle, 2.5f, verdict_color(cells[then]));
    const float room = saves_right - px(64) - (x + px(16));
    text(kSmall, touch.hovered ? theme().accent : theme().ink, x + px(16), middle, fitted(kSmall, cells[0], room));
    text_right(kFigures, theme().ink, saves_right, middle, cells[1]);
    if (time < cells.size()) text_right(kFigures, theme().muted, time_right, middle, cells[time]);
    if (requests < cells.size()) text_right(kFigures, theme().muted, requests_right, middle, cells[requests]);
    const std::string quality = one.change.quality[0] ? std::string(" Quality: ") + one.change.quality + "." : "";
    tooltip(touch, cells[0],
            "Then it " + std::string(cells[then] == "tight" ? "is tight" : cells[then]) + "." + quality + " " + change);
    y += box.h;
    rule(x, y - hairline(), width, theme().rule);
    if (touch.pressed) {
      apply_change(app, change);
      break;
    }
  }
  return y - top;
}

/// Why the others are no rows: a bar of the layouts tried, and what each part of it is.
float others_view(const Answer& answer, float x, float y, float width) {
  if (answer.fell_out.empty()) return 0;
  const float top = y;
  text(kStrong, theme().ink, x, y + px(10), "The others");
  y += px(26);
  for (const std::string& line : fell_out_sentences(answer)) {
    const size_t colon = line.find(": ");
    text_right(kFigures, theme().ink, x + px(64), y + px(9), line.substr(0, colon));
    y += std::max(px(20),
                  paragraph(kSmall, theme().muted, x + px(76), y, width - px(76), line.substr(colon + 2)) + px(3));
  }
  return y - top;
}

float below_rows(App& app, const Answer& answer, float x, float y, float width) {
  const float gap = px(28);
  if (width < px(760)) {
    const float top = y;
    y += limit_rows(app, answer, x, y, width) + px(16);
    y += switches_view(app, answer, x, y, width) + px(20);
    return y + others_view(answer, x, y, width) - top;
  }
  const float left = std::round((width - gap) * 0.6f), other = x + left + gap;
  const float switches = switches_view(app, answer, x, y, left);
  float bottom = y;
  if (!answer.limits.empty()) {
    text(kStrong, theme().ink, other, bottom + px(10), "The plan as it is");
    bottom += px(26);
    bottom += limit_rows(app, answer, other, bottom, width - left - gap) + px(16);
  }
  bottom += others_view(answer, other, bottom, width - left - gap);
  return std::max(switches, bottom - y);
}

}  // namespace

float plan_view(App& app, float x, float y, float width) {
  const float top = y;
  if (has_search(app)) platform::request_work();
  if (!app.plan().embed) {
    y = questions(app, false, kOfTraining, x, y, width) + px(6);
    y = questions(app, true, kOfServing, x, y, width) + px(16);
  }
  if (!app.layouts.answer) return y + progress_row(app, "", x, y, width) - top;
  const Answer answer = *app.layouts.answer;  // applying a row begins another search
  const Headline headline = headline_of(app.plan(), answer);
  y += headline_view({headline.word, headline.rest, "", headline.color}, x, y, width);
  y += progress_row(app, headline.margin, x, y, width) + px(8);
  for (const Message& message : answer.messages)
    y += paragraph(kSmall, theme().warn, x, y, width, message.text) + px(4);
  y += nearest_row(app, answer, x, y);
  y += gpus_view(app, answer, x, y, width);
  y += best_view(app, answer, x, y, width) + px(20);
  return y + below_rows(app, answer, x, y, width) - top;
}

}  // namespace vram
