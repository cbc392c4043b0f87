import Foundation

@testable import CoreData

/// A user's class with stored properties, for key paths and reflection.
class Writer: NSObject, @unchecked Sendable {
    let name: String
    let born: Int

    init(_ name: String, born: Int = 1929) {
        self.name = name
        self.born = born
    }
}

final class Novel: NSObject, @unchecked Sendable {
    var title: String
    var subtitle: String?
    var pages: Int
    var author: Writer?
    var isLent = false
    var tags: Set<String> = []
    var length: Int { title.count }

    init(_ title: String, pages: Int = 100, subtitle: String? = nil, author: Writer? = nil, tags: Set<String> = []) {
        self.title = title
        self.pages = pages
        self.subtitle = subtitle
        self.author = author
        self.tags = tags
    }
}
