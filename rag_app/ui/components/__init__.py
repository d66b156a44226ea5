"""What the pages are made of: functions from values to components."""
