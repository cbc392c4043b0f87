// As on Apple's platforms, `import CoreData` brings Foundation with it: `URL`, `Date`, `NSPredicate`.
@_exported import Foundation
