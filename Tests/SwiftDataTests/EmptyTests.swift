import SwiftData
import Testing
