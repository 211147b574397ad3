/* For BookSim 2: traffic and injection by the lines `//: source destination rate` of a configuration (docs/reference/exports.md). What stands
 * before `InjectionProcess` goes before TrafficPattern::New of traffic.cpp, the rest before InjectionProcess::New of injection.cpp. */
#include <fstream>
#include <map>
typedef map<int, vector<pair<double, int> > > Rows;   // of each source: rates added up, destinations
Rows &matrix_rows(string const &file) {
  static Rows rows;
  if (rows.empty()) {
    ifstream in(file.c_str());
    for (string line; getline(in, line);) {
      int s, d;
      double r;
      if (sscanf(line.c_str(), "//: %d %d %lf", &s, &d, &r) == 3)
        rows[s].push_back(make_pair((rows[s].empty() ? 0 : rows[s].back().first) + r, d));
    }
  }
  return rows;
}
class MatrixTrafficPattern : public TrafficPattern {
  string _file;
public:
  MatrixTrafficPattern(int nodes, string const &file) : TrafficPattern(nodes), _file(file) {}
  int dest(int source) {
    vector<pair<double, int> > &row = matrix_rows(_file)[source];
    double at = RandomFloat() * row.back().first;
    size_t i = 0;
    while (i + 1 < row.size() && row[i].first <= at)
      i++;
    return row[i].second;
  }
};

Rows &matrix_rows(string const &file);
class MatrixInjectionProcess : public InjectionProcess {
  string _file;
public:
  MatrixInjectionProcess(int nodes, double rate, string const &file) : InjectionProcess(nodes, rate), _file(file) {}
  bool test(int source) {
    vector<pair<double, int> > &row = matrix_rows(_file)[source];
    return !row.empty() && RandomFloat() < row.back().first;
  }
};
