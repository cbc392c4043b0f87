import Foundation

extension Array where Element: NSObject {
    /// The elements in the order of the descriptors, without the first `offset`, at most `limit`; 0 is no limit.
    func window(sortedBy sorts: [NSSortDescriptor], offset: Int, limit: Int) -> [Element] {
        var all = self
        if !sorts.isEmpty {
            all.sort { a, b in
                for sort in sorts {
                    switch sort.compare(a, to: b) {
                    case .orderedAscending: return true
                    case .orderedDescending: return false
                    case .orderedSame: continue
                    }
                }
                return false
            }
        }
        if offset > 0 { all.removeFirst(Swift.min(offset, all.count)) }
        return limit > 0 ? Array(all.prefix(limit)) : all
    }
}
